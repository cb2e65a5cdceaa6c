/*
 * config.c - log levels, and the last error of each thread. Settings: script/settings.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <pthread.h>

#include "base/settings.h"
#include "rex/entry.h"
#include "rex/map.h"

/* ---- the log ----------------------------------------------------------------------------------------------------- */

static char key;
static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof module, .entries_begin = entry, .entries_end = entry + 1,
                                   .image_name = "tests/data/sm_90.cubin"};

/* A line of each level: an error, a warning, a context that is activated, a data call. */
static void one_line_of_each(const void *level)
{
    static int64_t cells[4];
    REX_MAP(region, REX_TO(cells, 4));
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_WAIT, "spin"), REX_OK);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    if (level != NULL)
        setenv("REX_LOG", level, 1);
    else
        unsetenv("REX_LOG");
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, NULL), REX_OK);
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
    setenv("FAKE_CUDA_BREAKS", "cuDevicePrimaryCtxSetFlags:719:0", 1);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    unsetenv("FAKE_CUDA_BREAKS");
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_OK);
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL); /* recorded whatever the level */
}

TEST(test_log_levels)
{
    static const struct {
        const char *level;
        int lines;
    } cases[] = {{"off", 0},  {"error", 1}, {"warn", 2},  {NULL, 2},
                 {"info", 3}, {"debug", 4}, {"Debug", 4}, {"nonsense", 2}, {"Warning", 2}, {"debug:", 2}};
    static const char *const in_order[] = {"librex: error: rex_module_register: the module is NULL [REX_EINVAL]\n",
                                           "librex: warning: GPU 0: the wait policy could not be set",
                                           "librex: info: GPU 0: context activated with flags 0x1\n",
                                           "librex: debug: data begin: device 0, 1 rows\n"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *output = in_child(one_line_of_each, cases[i].level);
        for (int line = 0; line < 4; line++)
            if (occurrences(output, in_order[line]) != (line < cases[i].lines))
                fail_msg("not %d lines:\n%s", cases[i].lines, output);
    }
}

/* A process that has said nothing yet reads its environment at its first line, and once. */
static void repeated_failures(const void *level)
{
    setenv("REX_LOG", level, 1);
    for (int i = 0; i < 100; i++)
        CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
    setenv("REX_LOG", "off", 1);
    CHECK_EQUAL(rex_configure((enum rex_option)99, "x"), REX_EINVAL);
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
}

TEST(test_error_is_printed_once)
{
    static const char error[] = "librex: error: rex_module_register: the module is NULL [REX_EINVAL]\n";
    const char *output = in_child(repeated_failures, "error");
    assert_int_equal(occurrences(output, error), 2);
    assert_int_equal(occurrences(output, "\n"), 3);
    assert_string_equal(in_child(repeated_failures, "off"), "");
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void *fail_in_a_thread(void *unused)
{
    CHECK_EQUAL(rex_last_error_code(), 0);
    CHECK(strcmp(rex_last_error(), "") == 0);
    CHECK(rex_host_alloc(0) == NULL);
    CHECK(strcmp(rex_last_error(), "rex_host_alloc: a size of 0") == 0);
    return unused;
}

TEST_IN_CHILD(each_thread_has_its_own)
{
    pthread_t thread;
    CHECK_EQUAL(rex_last_error_code(), 0);
    CHECK(strcmp(rex_last_error(), "") == 0);
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
    CHECK_EQUAL(pthread_create(&thread, NULL, fail_in_a_thread, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL);
    CHECK(strcmp(rex_last_error(), "rex_module_register: the module is NULL") == 0);
    /* The old message may be part of the new one. */
    CHECK_EQUAL(rex_configure(REX_OPTION_WAIT, rex_last_error()), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "REX_WAIT cannot be \"rex_module_register: the module is NULL\", only auto");
}

/* A message ends where its room does, and with a whole character: each of these takes four. */
static void long_message(const void *letter)
{
    static char path[REX_SETTING_MAX];
    memset(path, *(const char *)letter, sizeof path - 1);
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, path), REX_OK);
    CHECK_EQUAL(rex_runtime_bind(), REX_ENORUNTIME);
    printf("%s", rex_last_error());
}

TEST(test_long_message)
{
    enum { MOST = 4095 };
    static const char begin[] = "libomptarget ";
    static char expected[3 * MOST];
    strcpy(expected, "librex: error: libomptarget ");
    memset(expected + strlen(expected), 'm', MOST - strlen(begin));
    strcat(expected, " [REX_ENORUNTIME]\nlibomptarget ");
    memset(expected + strlen(expected), 'm', MOST - strlen(begin));
    assert_string_equal(in_child(long_message, "m"), expected);
    const char *output = in_child(long_message, "\n");
    assert_int_equal(occurrences(output, "\\x0a"), 2 * ((MOST - (int)strlen(begin)) / 4));
    assert_int_equal(occurrences(output, "\\"), 2 * ((MOST - (int)strlen(begin)) / 4));
}

TEST(test_names)
{
    assert_string_equal(rex_error_name(REX_EHOST), "REX_EHOST");
    assert_string_equal(rex_error_name(1), "unknown error");
    assert_string_equal(rex_error_name(-1000), "unknown error");
    assert_int_equal(REX_EHOST, -1); /* what libomptarget returns */
}
