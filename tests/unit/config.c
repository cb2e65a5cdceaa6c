/*
 * config.c - settings, log levels, and the last error of each thread.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <pthread.h>

#include "base/settings.h"
#include "base/error.h"
#include "base/log.h"

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static const struct {
    enum rex_option option;
    const char *variable;
} options[] = {
    {REX_OPTION_OMPTARGET, "REX_OMPTARGET"},
    {REX_OPTION_CUBIN, "REX_CUBIN"},
    {REX_OPTION_CUBIN_PATH, "REX_CUBIN_PATH"},
    {REX_OPTION_LOG, "REX_LOG"},
};

static void test_program_overrides_environment(void **state)
{
    char value[REX_CONFIG_MAX];
    (void)state;
    for (size_t i = 0; i < COUNT(options); i++) {
        enum rex_option option = options[i].option;
        assert_string_equal(rex_config_variable(option), options[i].variable);
        unsetenv(options[i].variable);
        assert_int_equal(rex_config(option, value), 0);
        setenv(options[i].variable, "", 1); /* empty is as good as none */
        assert_int_equal(rex_config(option, value), 0);
        setenv(options[i].variable, "info", 1);
        assert_int_equal(rex_config(option, value), 1);
        assert_string_equal(value, "info");
        char chosen[] = "debug";
        assert_int_equal(rex_configure(option, chosen), 0);
        chosen[0] = 'X'; /* it was copied */
        assert_int_equal(rex_config(option, value), 1);
        assert_string_equal(value, "debug");
        assert_int_equal(rex_configure(option, NULL), 0);
        assert_int_equal(rex_config(option, value), 1);
        assert_string_equal(value, "info");
        unsetenv(options[i].variable);
    }
}

static void bad_settings(const void *context)
{
    static char long_value[REX_CONFIG_MAX + 1];
    char value[REX_CONFIG_MAX];
    (void)context;
    unsetenv("REX_LOG");
    CHECK_EQUAL(rex_configure((enum rex_option)99, "x"), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "no option 99");
    CHECK_EQUAL(rex_configure((enum rex_option)-1, "x"), REX_EINVAL);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "loud"), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "\"loud\"");
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "loud:/tmp/a"), REX_EINVAL);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info:"), REX_EINVAL);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, ""), 0);
    CHECK_EQUAL(rex_config(REX_OPTION_LOG, value), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "DEBUG"), 0);
    memset(long_value, 'x', REX_CONFIG_MAX);
    CHECK_EQUAL(rex_configure(REX_OPTION_CUBIN, long_value), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "REX_CUBIN");
    long_value[REX_CONFIG_MAX - 1] = '\0';
    CHECK_EQUAL(rex_configure(REX_OPTION_CUBIN, long_value), 0);
    CHECK_EQUAL(rex_config(REX_OPTION_CUBIN, value), 1);
    CHECK(strcmp(value, long_value) == 0);
}

static void test_bad_settings(void **state)
{
    (void)state;
    in_child(bad_settings, NULL);
}

/* ---- the log ----------------------------------------------------------------------------------------------------- */

static void one_line_of_each(const void *level)
{
    if (level != NULL)
        setenv("REX_LOG", level, 1);
    else
        unsetenv("REX_LOG");
    rex_configure(REX_OPTION_LOG, NULL); /* the parent has looked at its own environment already */
    rex_log(REX_LOG_ERROR, "%s line", "error");
    rex_log(REX_LOG_WARN, "%s line", "warn");
    rex_log(REX_LOG_INFO, "%s line", "info");
    rex_log(REX_LOG_DEBUG, "%s line", "debug");
    rex_fail(REX_EINVAL, "a failure");
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL); /* recorded whatever the level */
}

static void test_log_levels(void **state)
{
    static const struct {
        const char *level;
        int lines;
    } cases[] = {{"off", 0},  {"error", 1}, {"warn", 2},  {NULL, 2},
                 {"info", 3}, {"debug", 4}, {"Debug", 4}, {"nonsense", 2}, {"Warning", 2}, {"debug:", 2}};
    static const char *const in_order[] = {"librex: error line\n", "librex: warn line\n", "librex: info line\n",
                                           "librex: debug line\n"};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *output = in_child(one_line_of_each, cases[i].level);
        for (int line = 0; line < 4; line++)
            assert_int_equal(occurrences(output, in_order[line]), line < cases[i].lines);
        assert_int_equal(occurrences(output, "librex: a failure [REX_EINVAL]\n"), cases[i].lines > 0);
    }
}

static void repeated_failures(const void *context)
{
    (void)context;
    unsetenv("REX_LOG");
    rex_configure(REX_OPTION_LOG, NULL);
    for (int i = 0; i < 100; i++)
        rex_fail(REX_EKEY, "the same each time");
    rex_fail(REX_EKEY, "another");
    rex_fail(REX_EKEY, "the same each time");
    rex_fail_again(REX_EKEY, "what another thread printed");
}

static void test_error_is_printed_once(void **state)
{
    (void)state;
    const char *output = in_child(repeated_failures, NULL);
    assert_int_equal(occurrences(output, "the same each time"), 2);
    assert_int_equal(occurrences(output, "another [REX_EKEY]\n"), 1);
    assert_int_equal(occurrences(output, "what another thread printed"), 0);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void *fail_in_a_thread(void *unused)
{
    (void)unused;
    CHECK_EQUAL(rex_last_error_code(), 0);
    CHECK(strcmp(rex_last_error(), "") == 0);
    rex_fail(REX_EDEVICE, "of the other thread");
    CHECK(strcmp(rex_last_error(), "of the other thread") == 0);
    return NULL;
}

static void each_thread_has_its_own(const void *context)
{
    pthread_t thread;
    (void)context;
    CHECK_EQUAL(rex_last_error_code(), 0);
    CHECK(strcmp(rex_last_error(), "") == 0);
    CHECK_EQUAL(rex_fail(REX_EKEY, "of %s thread", "the first"), REX_EKEY);
    CHECK_EQUAL(pthread_create(&thread, NULL, fail_in_a_thread, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_EQUAL(rex_last_error_code(), REX_EKEY);
    CHECK(strcmp(rex_last_error(), "of the first thread") == 0);
    /* The old message may be part of the new one. */
    rex_fail(REX_EINVAL, "after: %s", rex_last_error());
    CHECK(strcmp(rex_last_error(), "after: of the first thread") == 0);
}

static void test_errors_of_threads(void **state)
{
    (void)state;
    in_child(each_thread_has_its_own, NULL);
}

static void long_message(const void *context)
{
    static char text[3 * REX_MESSAGE_MAX];
    (void)context;
    memset(text, 'm', sizeof text - 1);
    rex_fail(REX_EINVAL, "%s", text);
    CHECK_EQUAL(strlen(rex_last_error()), REX_MESSAGE_MAX - 1);
}

static void test_long_message(void **state)
{
    (void)state;
    const char *output = in_child(long_message, NULL), *end = "mmm [REX_EINVAL]\n";
    assert_int_equal(strlen(output), strlen("librex: ") + REX_MESSAGE_MAX - 1 + strlen(" [REX_EINVAL]\n"));
    assert_string_equal(output + strlen(output) - strlen(end), end);
}

static void test_names(void **state)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
#define NAME(name, value, text) {(value), #name},
        REX_ERRORS(NAME)
#undef NAME
    };
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(names[i].code, -(int)i); /* no gap, no value twice */
        assert_string_equal(rex_error_name(names[i].code), names[i].name);
        assert_true(strlen(rex_error_text(names[i].code)) > 5);
    }
    assert_string_equal(rex_error_name(1), "unknown error");
    assert_string_equal(rex_error_text(-(int)COUNT(names)), "unknown error");
    assert_int_equal(REX_EHOST, -1); /* what libomptarget returns */
    assert_string_equal(rex_version(), REX_VERSION_STRING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_program_overrides_environment),
        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_log_levels),
        cmocka_unit_test(test_error_is_printed_once),
        cmocka_unit_test(test_errors_of_threads),
        cmocka_unit_test(test_long_message),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
