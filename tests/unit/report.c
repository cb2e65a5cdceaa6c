/*
 * report.c - rex-report's advice for programs on a GPU: each appears for a program that deserves it, and not for its cure; the readers of
 * its lines, its figures, and how busy it says that a track was.
 *
 * The driver and libomptarget are fakes, whose calls take no time: what an event took is put in, 20 microseconds, so that no advice depends
 * on a clock. Launches go by the driver, but for a module with device globals, of which the driver has a fake that computes nothing. What
 * it says of programs on the CPU is tested in scripts/rex-report.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include "inqueue.h"
#include "rex-report/advice.h"
#include "rex-report/figures.h"
#include "rex-report/study.h"
#include "rex/device.h"
#include "rex/entry.h"
#include "rex/queue.h"

/* Of tests/data/stateless.cu, and of tests/data/kernels.cu, which has a device global. */
static char axpy_id, plain_id;
#define ENTRY(key, name) {{(key), (char *)(uintptr_t)(name "__kernel__"), 0, 0, 0}}
static struct __tgt_offload_entry entry[] = ENTRY(&axpy_id, "axpy"), entry_with_globals[] = ENTRY(&plain_id, "plain");
#define MODULE(entries, image) \
    {.struct_size = sizeof(struct rex_module), .entries_begin = (entries), .entries_end = (entries) + 1, .image_name = (image)}
static struct rex_module module = MODULE(entry, "tests/data/stateless_sm_90.cubin");
static struct rex_module with_globals = MODULE(entry_with_globals, "tests/data/sm_90.cubin");

enum { CELLS = 100, LAUNCHES = 200, IN_QUEUE = 1200, LARGE = 4000000, TOOK = 20000 };
static uint64_t cells[CELLS], *large;
static char folder[PATH_MAX], trace[PATH_MAX + 16];

/* ---- programs ----------------------------------------------------------------------------------------------------------------------- */

static void compute_nothing(const unsigned *grid, const unsigned *block, void **parameters)
{
    (void)grid, (void)block, (void)parameters;
}

static void start_with(struct rex_module *used)
{
    static const size_t widths[] = {8, 8, 8, 8};
    void (*give)(const char *, void (*)(const unsigned *, const unsigned *, void **), size_t, const size_t *);
    setenv("FAKE_CUDA_MEMORY", "64", 1);
    use_gpu(90);
    use_release(22);
    void *found = in_driver("fake_cuda_kernel");
    memcpy(&give, &found, sizeof give);
    give("axpy__kernel__", compute_nothing, COUNT(widths), widths);
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, trace), REX_OK);
    CHECK_EQUAL(rex_module_register(used, NULL), REX_OK);
}

static void start(void)
{
    start_with(&module);
}

/* The trace is written at the end of the process. */
static void end(void)
{
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(rex_module_fini(&with_globals), REX_OK);
    exit(0);
}

/* The fake says that CELLS are on the device. */
static void map_cells(void)
{
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)cells, sizeof cells, 0x10000000};
}

static void launch(int times, bool copied)
{
    uint64_t value = 1, *out = cells;
    struct rex_launch_config description = rex_launch_config_of(&axpy_id, 3, 64);
    REX_MAP(copies, REX_VALUE(value), REX_VALUE(value), REX_IS_DEVICE_PTR(NULL), REX_TOFROM(out, CELLS));
    REX_MAP(resident, REX_VALUE(value), REX_VALUE(value), REX_IS_DEVICE_PTR(NULL), REX_ALLOC(out, CELLS));
    for (int i = 0; i < times; i++)
        CHECK_EQUAL(rex_module_launch_map(&module, &description, copied ? &copies : &resident), REX_OK);
}

static void launch_with_globals(int times, int result)
{
    uint64_t value = 1, *out = cells;
    struct rex_launch_config description = rex_launch_config_of(&plain_id, 3, 64);
    REX_MAP(args, REX_VALUE(value), REX_ALLOC(out, CELLS));
    for (int i = 0; i < times; i++)
        CHECK_EQUAL(rex_module_launch_map(&with_globals, &description, &args), result);
}

static void wait_for_each(const void *context)
{
    (void)context;
    start();
    map_cells();
    launch(LAUNCHES, false);
    end();
}

/* CONTEXT: how many launches. */
static void use_globals(const void *context)
{
    start_with(&with_globals);
    map_cells();
    launch_with_globals(*(const int *)context, REX_OK);
    end();
}

static void fail_once(const void *context)
{
    (void)context;
    start_with(&with_globals);
    map_cells();
    the_record()->result = 1;
    launch_with_globals(1, -1);
    end();
}

static struct rex_queue *new_queue(void)
{
    struct rex_queue *queue = NULL;
    map_cells();
    CHECK_EQUAL(rex_module_queue_create(&queue, &module, 0, "work", 0, NULL), REX_OK);
    return queue;
}

static void put(struct rex_queue *queue, int times)
{
    uint64_t value = 1, *out = cells;
    struct rex_launch_config description = rex_launch_config_of(&axpy_id, 3, 64);
    REX_MAP(args, REX_VALUE(value), REX_VALUE(value), REX_IS_DEVICE_PTR(NULL), REX_ALLOC(out, CELLS));
    for (int i = 0; i < times; i++)
        CHECK_EQUAL(launch_module_in(queue, &module, &description, &args), REX_OK);
}

/* CONTEXT: how many launches. */
static void use_queue(const void *context)
{
    start();
    struct rex_queue *queue = new_queue();
    put(queue, *(const int *)context);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    end();
}

static void use_graph(const void *context)
{
    struct rex_graph *graph = NULL;
    (void)context;
    start();
    struct rex_queue *queue = new_queue();
    CHECK_EQUAL(rex_graph_begin(queue), REX_OK);
    put(queue, 12);
    CHECK_EQUAL(rex_graph_end(&graph, queue), REX_OK);
    for (int i = 0; i < IN_QUEUE / 12; i++)
        CHECK_EQUAL(rex_graph_launch(graph, queue), REX_OK);
    CHECK_EQUAL(rex_queue_sync(queue), REX_OK);
    rex_graph_destroy(graph);
    CHECK_EQUAL(rex_queue_destroy(queue), REX_OK);
    end();
}

static void copy_at_each(const void *context)
{
    (void)context;
    start();
    launch(LAUNCHES, true);
    end();
}

static void copy_once(const void *context)
{
    uint64_t *out = cells;
    (void)context;
    start();
    map_cells();
    REX_MAP(region, REX_TOFROM(out, CELLS));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    launch(LAUNCHES, true);
    CHECK_EQUAL(rex_module_region_end(&module, 0, &region), REX_OK);
    end();
}

static void copy_large(const void *context)
{
    bool pinned = *(const bool *)context;
    start();
    large = pinned ? rex_host_alloc(LARGE * sizeof *large) : calloc(LARGE, sizeof *large);
    CHECK(large != NULL);
    REX_MAP(region, REX_TO(large, LARGE));
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)large, LARGE * sizeof *large, 0x10000000};
    CHECK_EQUAL(rex_module_region_end(&module, 0, &region), REX_OK);
    end();
}

/* ---- what is said of them ------------------------------------------------------------------------------------------------------------ */

/* All advice for the last program, each as long as all events take TOOK. */
static const char *advice_for_last(void)
{
    static char line[65536], text[65536];
    static struct advice advice[MOST_ADVICE];
    struct findings findings;
    struct event event;
    uint64_t to, from;
    FILE *file = fopen(trace, "r");
    assert_non_null(file);
    findings_begin(&findings);
    while (fgets(line, sizeof line, file) != NULL)
        if (event_read(&event, line + (*line == ','))) {
            event.took = TOOK;
            findings_add(&findings, &event, &to, &from);
        }
    fclose(file);
    assert_true(findings.gpu);
    size_t count = advise(&findings, advice);
    findings_end(&findings);
    *text = '\0';
    for (size_t i = 0; i < count; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", advice[i].text);
        free(advice[i].text);
    }
    return text;
}

static void expect(void (*program)(const void *), const void *context, const char *advice)
{
    in_child(program, context);
    const char *said = advice_for_last();
    if (*advice == '\0')
        assert_string_equal(said, "");
    else if (strstr(said, advice) == NULL || strchr(said, '\n') != said + strlen(said) - 1)
        fail_msg("not \"%s\" alone: %s", advice, said);
}

TEST(test_waiting)
{
    static const int few = LAUNCHES;
    expect(wait_for_each, NULL,
           "199 launches were waited for, 3.98 ms in all, though the same thread launched again next: a queue (rex_queue_create(3)) "
           "would save up to 3.18 ms.");
    expect(use_queue, &few, "");
}

TEST(test_graphs)
{
    static const int many = IN_QUEUE;
    expect(use_queue, &many,
           "1 200 launches were put in queues one by one, which took 24 ms: where they repeat, a graph (rex_graph_begin(3)) would save up "
           "to 23.0 ms.");
    expect(use_graph, NULL, "");
}

TEST(test_copies)
{
    expect(copy_at_each, NULL,
           ") is copied both ways anew at each of 199 launches, 318 kB in all: a data region around them (rex_data_enter(3)) would save up "
           "to 3.");
    /* What is left is that they are waited for. */
    expect(copy_once, NULL, "199 launches were waited for");
}

TEST(test_pinned)
{
    static const bool ordinary = false, pinned = true;
    expect(
        copy_large, &ordinary,
        "32 MB of ordinary memory were copied, which took about 20 us: pinned memory (rex_host_alloc(3)), copied four times as fast on "
        "an H100, would save up to 15 us.");
    expect(copy_large, &pinned, "");
}

TEST(test_failures)
{
    expect(fail_once, NULL, "1 launch of plain__kernel__ failed with 1: what it should have computed is missing. REX_LOG=debug says more.");
}

/* The module of the same program without device globals is that of test_waiting(). */
TEST(test_sender)
{
    static const int many = LAUNCHES, few = 99;
    const char *advice =
        "launches of plain__kernel__ went by libomptarget, 4 ms in all, because its module has device globals, \"table\" for "
        "one, which a second load would have again: by the driver (librex(7), Who launches on a GPU) they would take up to "
        "1.20 ms less.\n";
    in_child(use_globals, &many);
    if (strstr(advice_for_last(), advice) == NULL)
        fail_msg("%s", advice_for_last());
    in_child(use_globals, &few);
    assert_string_equal(advice_for_last(), "");
    in_child(wait_for_each, NULL);
    assert_null(strstr(advice_for_last(), "went by libomptarget"));
}

/* ---- its parts ----------------------------------------------------------------------------------------------------------------------- */

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

/* A slice of a phase on track 1, in nanoseconds. */
static void add(struct timeline *timeline, uint64_t begin, uint64_t end)
{
    struct event event = {.kind = EVENT_PHASE, .track = TRACK_THREAD, .name = "", .id = 1, .begin = begin, .took = end - begin};
    timeline_add(timeline, &event);
}

static uint64_t in_bins(const struct timeline *timeline)
{
    size_t first, count = timeline_bins(timeline, &first);
    uint64_t all = 0;
    for (size_t i = first; i < first + count; i++)
        all += timeline->tracks[0].bins[i][BUSY_START];
    return all;
}

/* What lies in another slice counts once, and nothing is lost when bins become wider, on either side. */
TEST(test_timeline)
{
    struct timeline timeline;
    timeline_begin(&timeline);
    add(&timeline, 1000000, 1000010);
    add(&timeline, 1000020, 1000030);
    add(&timeline, 1000000, 1000100);
    assert_int_equal(track_busy(&timeline.tracks[0]), 100);
    assert_int_equal(in_bins(&timeline), 100);
    add(&timeline, 9000000000, 9000000500);
    assert_int_equal(in_bins(&timeline), 600);
    add(&timeline, 9000000600, 9000000700);
    assert_int_equal(in_bins(&timeline), 700);
    add(&timeline, 10, 9000000800);
    assert_int_equal(track_busy(&timeline.tracks[0]), 9000000790);
    assert_int_equal(in_bins(&timeline), 9000000790);
    timeline_end(&timeline);
}

int main(void)
{
    make_folder(folder);
    snprintf(trace, sizeof trace, "%s/trace.json", folder);
    int failed = run_all_tests();
    remove_folder(folder);
    return failed;
}
