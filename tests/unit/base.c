/*
 * base.c - names as they are printed and looked for, and those of files with the process's number in them; invariants.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <locale.h>

#include "base/file.h"
#include "base/error.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/settings.h"
#include "rex/inspect.h"
#include "support/messages.h"

MESSAGES("inspect");

/* ---- characters -------------------------------------------------------------------------------------------------- */

/* First and last of each form of RFC 3629, and what is next to them. */
TEST(test_utf8)
{
    static const char *const good[] = {
        "\x01",         "@",            "\x7f",         "\xc2\x80",         "\xdf\xbf",         "\xe0\xa0\x80",     "\xe1\x80\x80", "\xec\xbf\xbf",
        "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf1\x80\x80\x80", "\xf3\xbf\xbf\xbf", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {
        "\x80",             "\xc1\xbf",         "\xc2\x7f",         "\xdf\xc0",         "\xe0\x9f\x80",     "\xe0\xa0\x7f", "\xe0\xa0\xc0",
        "\xe1\x7f\x80",     "\xed\xa0\x80",     "\xef\xc0\xbf",     "\xf0\x8f\x80\x80", "\xf0\x90\x80\x7f", "\xf0\x90\x80\xc0",
        "\xf0\x90\xc0\x80", "\xf3\xbf\xbf",     "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xfc\x80\x80\x80", ""};
    char written[REX_JSON_MAX];
    for (size_t i = 0; i < COUNT(good); i++) {
        const char *at = good[i];
        rex_json_character(&at, written);
        assert_int_equal(at - good[i], strlen(good[i]));
        assert_int_not_equal(memcmp(written, "\\ufffd", 6), 0);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        const char *at = bad[i];
        assert_int_equal(rex_json_character(&at, written), 6);
        assert_int_equal(memcmp(written, "\\ufffd", 6), 0);
    }
}

/* Those of Bidi_Control, and what is next to them. */
TEST(test_reordering)
{
    static const char *const hidden[] = {"\xd8\x9c",     "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8",
                                         "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9"};
    static const char *const shown[] = {"\xd8\x9b",     "\xd8\x9d",     "\xe2\x80\x8d", "\xe2\x80\x90", "\xe2\x80\xa7",
                                        "\xe2\x80\xaf", "\xe2\x81\xa5", "\xe2\x81\xaa"};
    char text[16] = "\xe2\x80\xae", written[REX_JSON_MAX + 1] = "";
    for (size_t i = 0; i < COUNT(hidden); i++)
        assert_int_equal(rex_shown_length(hidden[i]), 0);
    for (size_t i = 0; i < COUNT(shown); i++)
        assert_int_equal(rex_shown_length(shown[i]), strlen(shown[i]));
    const char *at = text;
    assert_int_equal(rex_json_character(&at, written), 6);
    assert_string_equal(written, "\\u202e");
    rex_escape(text, sizeof text, "");
    assert_string_equal(text, "\\xe2\\x80\\xae");
}

TEST(test_escapes)
{
    char text[64] = "a\n\x1f\x7f\xc2\x9f\xc2\xa0\xf0\x90\x80\x80";
    rex_escape(text, sizeof text, "\n");
    assert_string_equal(text, "a\n\\x1f\\x7f\\xc2\\x9f\xc2\xa0\xf0\x90\x80\x80");
    rex_escape(text, sizeof text, "");
    assert_string_equal(text, "a\\x0a\\x1f\\x7f\\xc2\\x9f\xc2\xa0\xf0\x90\x80\x80");
    /* What has no room is left out, and nothing of it is left. */
    static const char *const cut[] = {"", "a", "a", "a", "a", "a\\x0a", "a\\x0ab"};
    for (size_t size = 2; size < 8; size++) {
        char little[] = "a\nb";
        memset(text, '!', sizeof text);
        memcpy(text, little, sizeof little);
        rex_escape(text, size < 4 ? 4 : size, "");
        assert_string_equal(text, cut[(size < 4 ? 4 : size) - 1]);
    }
}

/* ---- the nearest name -------------------------------------------------------------------------------------------- */

/* How many letters are others, and whether that is near. */
TEST(test_nearest)
{
    static const char *const pairs[][2] = {
        {"axpy__kernel__", "axpy__kernel__"}, {"axpy__kernel__", "axpz__kernel__"}, {"axpy__kernel__", "axp__kernel__"},
        {"axpy__kernel__", "aaxpy__kernel__"}, {"axpy__kernel__", "bxpz__kernel__"}, {"axpy__kernel__", "xapz__kernel__"},
        {"axpy__kernel__", "xbpz__kernel__"}, {"axpy__kernel__", "axyp__kernel__"}, {"axpy__kernel__", "spmv__kernel__"},
        {"abcdef1", "bacdfe2"}, {"abcdef1", "cabdef2"}, {"abcdefgh1", "abcdefgh2"}, {"abcdefg", "bcdefgh"}, {"abcdef1", "xyzdef2"},
        {"abcdef1", "xycdef2"}, {"a", "b"}, {"a", "bc"}, {"a", ""}, {"", "a"}, {"", ""}, {"ab", "ba"}};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct rex_nearest nearest = {.wanted = pairs[i][0]};
        rex_nearest_try(&nearest, pairs[i][1]);
        if (nearest.name != NULL)
            says("\"%s\" for \"%s\": %zu", pairs[i][1], pairs[i][0], nearest.edits);
        else
            says("\"%s\" for \"%s\": not near", pairs[i][1], pairs[i][0]);
    }
    /* The longest names that are compared, and one that is longer than any compiler's: it is near to none. */
    char wanted[257], other[257];
    for (int longer = 0; longer < 3; longer++) {
        snprintf(wanted, sizeof wanted, "%0*d", 255 + (longer == 1), 1);
        snprintf(other, sizeof other, "%0*d", 255 + (longer == 2), 2);
        assert_int_equal(rex_nearest_name(wanted, (const char *const[]){other}, 1) != NULL, longer == 0);
    }
}

/* ---- settings ---------------------------------------------------------------------------------------------------- */

/* A value of the program's stays where it is, and has no second copy. */
TEST(test_values)
{
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, "one"), 0);
    const char *one = rex_setting_by_program(REX_OPTION_CUBIN);
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, "two"), 0);
    assert_string_equal(rex_setting_by_program(REX_OPTION_CUBIN), "two");
    assert_string_equal(one, "one");
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, "one"), 0);
    assert_ptr_equal(rex_setting_by_program(REX_OPTION_CUBIN), one);
    assert_int_equal(rex_configure(REX_OPTION_CUBIN, ""), 0);
    assert_null(rex_setting_by_program(REX_OPTION_CUBIN));
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* By its status the file is a page long, and fewer bytes can be read. */
/* Turkish has two letters I; the machine may lack the locale. */
TEST(test_words_in_each_locale)
{
    static const char *const locales[] = {"C", "tr_TR.UTF-8", "tr_TR.ISO-8859-9"};
    for (size_t i = 0; i < COUNT(locales); i++) {
        setlocale(LC_ALL, locales[i]);
        assert_true(rex_is_word("DISABLED", 8, "disabled"));
        assert_true(rex_is_word("Info:file", 4, "info"));
        assert_false(rex_is_word("infos", 5, "info"));
        assert_false(rex_is_word("inf", 3, "info"));
        assert_false(rex_is_word("[nfo", 4, "{nfo"));
    }
    setlocale(LC_ALL, "C");
}

TEST(test_shorter_than_told)
{
    static const char shorter[] = "/sys/devices/system/cpu/online";
    struct rex_bytes file;
    char why[64];
    if (access(shorter, R_OK) != 0)
        return;
    assert_int_equal(rex_file_read(shorter, &file, why, sizeof why), -1);
    assert_string_equal(why, "it shrank while it was read");
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
        assert_int_equal(rex_file_name(pattern, false, path, &is_numbered), !more);
        pattern[PATH_MAX - 2 - digits + more] = '\0';
        assert_int_equal(rex_file_name(pattern, true, path, &is_numbered), !more);
    }
}

/* ---- invariants -------------------------------------------------------------------------------------------------- */

static void unlock_without_lock(const void *unused)
{
    (void)unused;
    rex_output_unlock();
}

static void give_twice(const void *unused)
{
    static struct rex_pool pool = {.size = sizeof(struct rex_pooled), .what = "an object"};
    (void)unused;
    struct rex_pooled *object = rex_pool_take(&pool);
    rex_pool_give(&pool, object);
    rex_pool_give(&pool, object);
}

/* A broken one stops the process, and says what and where. */
TEST(test_invariants)
{
    static const struct {
        void (*breaks)(const void *);
        const char *file, *condition;
    } planted[] = {{unlock_without_lock, "base/log.c:", "rex_thread.outputs > 0"}, {give_twice, "base/pool.c:", "pool->last != object"}};
    for (size_t i = 0; i < COUNT(planted); i++) {
        struct child child = run_child(planted[i].breaks, NULL);
        assert_int_equal(child.status, 128 + SIGABRT);
        assert_non_null(strstr(child.output, planted[i].file));
        assert_non_null(strstr(child.output, planted[i].condition));
    }
}
