/*
 * report.c - the parts of rex-report: the reader of its lines, and its figures. What it advises, and how busy it says that a track was, is
 * tested in scripts/rex-report.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <stdbool.h>

#include "rex-report/event.h"
#include "rex-report/figures.h"

static void expect_figure(char *figure, const char *expected)
{
    assert_string_equal(figure, expected);
    free(figure);
}

TEST(test_figures)
{
    expect_figure(figure_count(0), "0");
    expect_figure(figure_count(999), "999");
    expect_figure(figure_count(4280), "4 280");
    expect_figure(figure_count(1234567), "1 234 567");
    expect_figure(figure_time(0), "0 ns");
    expect_figure(figure_time(999), "999 ns");
    expect_figure(figure_time(12340), "12.3 us");
    expect_figure(figure_time(999600000), "1.00 s");
    expect_figure(figure_time(120000000), "120 ms");
    expect_figure(figure_bytes(400000000), "400 MB");
    expect_figure(figure_speed(1000, 0), "-");
    expect_figure(figure_speed(112, 10), "11.2 GB/s");
    expect_figure(figure_share(1, 0), "-");
    expect_figure(figure_share(1, 8), "12.5 %");
}

/* What is no line of a trace: tests/fuzz. */
TEST(test_lines)
{
    struct event event;
    char line[512];
    snprintf(line, sizeof line,
             "{\"ph\":\"X\",\"cat\":\"launch\",\"pid\":7,\"tid\":7,\"ts\":2.5,\"dur\":0.75,\"name\":\"a\\u00e9\\\"b\",\"new\":[{\"x\":[1,"
             "null]}],"
             "\"args\":{\"device\":1,\"result\":-2,\"rows\":[\"literal 0x1, 8 bytes\",\"to|always 16 bytes at 0xff, pinned\","
             "\"from 0 bytes at 0x1\"]}}");
    assert_true(event_read(&event, line));
    assert_int_equal(event.kind, EVENT_LAUNCH);
    assert_string_equal(event.name, "a\xc3\xa9\"b");
    assert_int_equal(event.begin, 2500);
    assert_int_equal(event.took, 750);
    assert_int_equal(event.result, -2);
    assert_int_equal(event.rows, 1);
    assert_int_equal(event.row[0].number, 1);
    assert_true(event.row[0].begin == 0xff && event.row[0].size == 16);
    assert_true(event.row[0].to && event.row[0].always && event.row[0].pinned && !event.row[0].from && !event.row[0].deletes);
}
