/*
 * base.c - names as they are printed and looked for, and those of files with the process's number in them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include "base/file.h"
#include "base/names.h"

/* ---- characters -------------------------------------------------------------------------------------------------- */

/* First and last of each form of RFC 3629, and what is next to them. */
TEST(test_utf8)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"", 0},
        {"\x01", 1},
        {"\x7f", 1},
        {"\x80", 0},
        {"\xc1\xbf", 0},
        {"\xc2\x80", 2},
        {"\xc2\x7f", 0},
        {"\xdf\xbf", 2},
        {"\xdf\xc0", 0},
        {"\xe0\x9f\x80", 0},
        {"\xe0\xa0\x80", 3},
        {"\xe0\xa0\x7f", 0},
        {"\xe0\xa0\xc0", 0},
        {"\xe1\x80\x80", 3},
        {"\xe1\x7f\x80", 0},
        {"\xec\xbf\xbf", 3},
        {"\xed\x9f\xbf", 3},
        {"\xed\xa0\x80", 0},
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xef\xc0\xbf", 0},
        {"\xf0\x8f\x80\x80", 0},
        {"\xf0\x90\x80\x80", 4},
        {"\xf0\x90\x80\x7f", 0},
        {"\xf0\x90\x80\xc0", 0},
        {"\xf0\x90\xc0\x80", 0},
        {"\xf1\x80\x80\x80", 4},
        {"\xf3\xbf\xbf\xbf", 4},
        {"\xf3\xbf\xbf", 0},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (rex_utf8_length(cases[i].text) != cases[i].length)
            fail_msg("case %zu has %zu bytes", i, rex_utf8_length(cases[i].text));
}

TEST(test_escapes)
{
    char text[64] = "a\n\x1f\x7f\xc2\x9f\xc2\xa0\xf0\x90\x80\x80";
    rex_escape_lines(text, sizeof text);
    assert_string_equal(text, "a\n\\x1f\\x7f\\xc2\\x9f\xc2\xa0\xf0\x90\x80\x80");
    rex_escape(text, sizeof text);
    assert_string_equal(text, "a\\x0a\\x1f\\x7f\\xc2\\x9f\xc2\xa0\xf0\x90\x80\x80");
    /* What has no room is left out, and nothing of it is left. */
    static const char *const cut[] = {"", "a", "a", "a", "a", "a\\x0a", "a\\x0ab"};
    for (size_t size = 2; size < 8; size++) {
        char little[] = "a\nb";
        memset(text, '!', sizeof text);
        memcpy(text, little, sizeof little);
        rex_escape(text, size < 4 ? 4 : size);
        assert_string_equal(text, cut[(size < 4 ? 4 : size) - 1]);
    }
}

/* ---- the nearest name -------------------------------------------------------------------------------------------- */

TEST(test_nearest)
{
    static const struct {
        const char *wanted, *name;
        size_t edits; /* SIZE_MAX: not near */
    } cases[] = {
        {"axpy__kernel__", "axpy__kernel__", 0},
        {"axpy__kernel__", "axpz__kernel__", 1},
        {"axpy__kernel__", "axp__kernel__", 1},
        {"axpy__kernel__", "aaxpy__kernel__", 1},
        {"axpy__kernel__", "bxpz__kernel__", 2},
        {"axpy__kernel__", "xapz__kernel__", 2}, /* two are swapped */
        {"axpy__kernel__", "xbpz__kernel__", SIZE_MAX}, /* 3 of 4 */
        {"axpy__kernel__", "axyp__kernel__", 1},
        {"abcdef1", "bacdfe2", 3},
        {"abcdef1", "cabdef2", 3}, /* no neighbours */
        {"axpy__kernel__", "spmv__kernel__", SIZE_MAX},
        {"abcdefgh1", "abcdefgh2", 1},
        {"abcdefg", "bcdefgh", 2},
        {"abcdef1", "xyzdef2", SIZE_MAX},
        {"abcdef1", "xycdef2", 3},
        {"a", "b", 1},
        {"a", "bc", SIZE_MAX},
        {"a", "", 1},
        {"", "a", 1},
        {"", "", 0},
        {"ab", "ba", 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rex_nearest nearest = {.wanted = cases[i].wanted};
        rex_nearest_try(&nearest, cases[i].name);
        if ((nearest.name != NULL) != (cases[i].edits != SIZE_MAX) || (nearest.name != NULL && nearest.edits != cases[i].edits))
            fail_msg("\"%s\" is %s, %zu edits from \"%s\"", cases[i].name, nearest.name != NULL ? "near" : "not near", nearest.edits,
                     cases[i].wanted);
    }
}

/* ---- names of files ---------------------------------------------------------------------------------------------- */

/* A path that has just room, and one that has none. */
TEST(test_names)
{
    static char pattern[2 * PATH_MAX], path[PATH_MAX], expected[PATH_MAX];
    bool is_numbered;
    int digits = snprintf(expected, sizeof expected, "%ld", (long)getpid());
    for (int more = 0; more < 2; more++) {
        memset(pattern, 'x', PATH_MAX);
        strcpy(pattern + PATH_MAX - 1 - digits + more, "%p");
        assert_int_equal(rex_file_name(pattern, path, &is_numbered), !more);
        memset(path, 'x', PATH_MAX);
        path[PATH_MAX - 2 - digits + more] = '\0';
        assert_int_equal(rex_file_number(path), !more);
        assert_int_equal(strlen(path), PATH_MAX - 1 - more * digits);
    }
}
