/*
 * config.c - settings, log levels, and the last error of each thread.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common.h"

#include <pthread.h>

#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"
#include "trace/trace.h"

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

/* ---- values that a variable cannot have ------------------------------------------------------------------------------------------ */

static const struct known {
    enum rex_option option;
    const char *bad, *values, *otherwise; /* NULL: no value is bad but one that is too long */
    const char *good[12];
} known[] = {
    {REX_OPTION_OMPTARGET, NULL, NULL, "none", {"on", "0"}},
    {REX_OPTION_CUBIN, NULL, NULL, "none", {"off"}},
    {REX_OPTION_CUBIN_PATH, NULL, NULL, "none", {"a:b"}},
    {REX_OPTION_LOG,
     "loud",
     "off, error, warn, info or debug, and :FILE behind it or alone",
     "warn",
     {"off", "No", "FALSE", "0", "error", "warn", "warning", "info", "Debug", "warn:/dev/null", ":/dev/null", NULL}},
    {REX_OPTION_WAIT, "sometimes", "auto, spin, yield, block or runtime", "auto", {"auto", "SPIN", "yield", "block", "runtime"}},
    {REX_OPTION_ADOPT, "2", "on or off", "off", {"on", "Yes", "true", "1", "off", "no", "false", "0"}},
    {REX_OPTION_UNFINISHED, "on", "error or wait", "error", {"error", "Wait"}},
    {REX_OPTION_TRACE, "On", "the name of a file, - or off", "off", {"off", "no", "FALSE", "0", "-", "./0", "trace.json"}},
    {REX_OPTION_CHECK, "perhaps", "on, off or full", "on", {"on", "yes", "TRUE", "1", "off", "no", "false", "0", "Full"}},
    {REX_OPTION_CACHE, NULL, NULL, "on", {"on", "off", "/tmp"}},
    {REX_OPTION_LAUNCH_BY, "clang", "auto, driver or runtime", "auto", {"auto", "Driver", "runtime"}},
    {REX_OPTION_COPY_THREADS, "9", "auto or a number from 0 to 8", "auto", {"auto", "AUTO", "0", "1", "8"}},
    {REX_OPTION_REQUIRE_GPU, "always", "on or off", "off", {"on", "Yes", "true", "1", "off", "no", "false", "0"}},
};

static const char *complaint_of(const struct known *setting)
{
    static char text[512];
    const char *variable = rex_setting_variable(setting->option);
    if (setting->bad != NULL)
        snprintf(text, sizeof text, "%s cannot be \"%s\", only %s", variable, setting->bad, setting->values);
    else
        snprintf(text, sizeof text, "%s cannot be longer than 4095 bytes", variable);
    return text;
}

static const char *bad_value(const struct known *setting)
{
    static char too_long[REX_SETTING_MAX + 1];
    memset(too_long, 'x', REX_SETTING_MAX);
    return setting->bad != NULL ? setting->bad : too_long;
}

/* A process that fails at something, and never comes near what the variables are for. */
static void use_librex(const void *context)
{
    (void)context;
    for (int i = 0; i < 3; i++)
        rex_fail(REX_EINVAL, "failure %d", i);
    rex_trace_start();
    CHECK(!rex_trace_on());
    CHECK_EQUAL(rex_setting_wait(), REX_WAIT_AUTO);
    CHECK(!rex_setting_adopt() && rex_setting_check() == REX_CHECK_ON && rex_setting_launch_by() == REX_BY_AUTO && !rex_setting_wait_for_unfinished());
    CHECK_EQUAL(rex_setting_copy_threads(), -1);
    CHECK(!rex_setting_require_gpu());
}

/* Before anything else of this process looks at its environment. */
TEST(test_unknown_values_in_the_environment)
{
    char expected[1024];
    assert_int_equal(COUNT(known), rex_setting_count());
    for (size_t i = 0; i < COUNT(known); i++)
        setenv(rex_setting_variable(known[i].option), bad_value(&known[i]), 1);
    const char *output = in_child(use_librex, NULL);
    for (size_t i = 0; i < COUNT(known); i++) {
        snprintf(expected, sizeof expected, "librex: warning: %s; %s is used\n", complaint_of(&known[i]), known[i].otherwise);
        if (occurrences(output, expected) != 1)
            fail_msg("%snot once in\n%s", expected, output);
        unsetenv(rex_setting_variable(known[i].option));
    }
    assert_int_equal(occurrences(output, " cannot be "), COUNT(known));
    assert_int_equal(occurrences(output, "no setting"), 0);
}

/* Those that are longer than any setting, whatever they say. */
TEST(test_long_values_in_the_environment)
{
    static char too_long[100001];
    char expected[128];
    memset(too_long, 'x', sizeof too_long - 1);
    static const size_t lengths[] = {REX_SETTING_MAX, sizeof too_long - 1};
    for (size_t round = 0; round < COUNT(lengths); round++) {
        size_t length = lengths[round];
        too_long[length] = '\0';
        for (size_t i = 0; i < COUNT(known); i++)
            setenv(rex_setting_variable(known[i].option), too_long, 1);
        too_long[length] = length < sizeof too_long - 1 ? 'x' : '\0';
        const char *output = in_child(use_librex, NULL);
        for (size_t i = 0; i < COUNT(known); i++) {
            snprintf(expected, sizeof expected, "librex: warning: %s cannot be longer than 4095 bytes; %s is used\n",
                     rex_setting_variable(known[i].option), known[i].otherwise);
            if (occurrences(output, expected) != 1)
                fail_msg("%snot once in\n%s", expected, output);
        }
        for (size_t i = 0; i < COUNT(known); i++)
            unsetenv(rex_setting_variable(known[i].option));
    }
}

TEST_IN_CHILD(values_of_the_program)
{
    for (size_t i = 0; i < COUNT(known); i++) {
        CHECK_EQUAL(rex_configure(known[i].option, bad_value(&known[i])), REX_EINVAL);
        CHECK_MENTIONS(rex_last_error(), complaint_of(&known[i]));
        for (const char *const *good = known[i].good; *good != NULL; good++)
            CHECK_EQUAL(rex_configure(known[i].option, *good), REX_OK);
        CHECK_EQUAL(rex_configure(known[i].option, ""), REX_OK);
        CHECK(!rex_setting_by_program(known[i].option));
    }
}

/* What the program has chosen instead is used, so that nothing is wrong; given back to the environment it is. */
static void choose_instead(const void *context)
{
    (void)context;
    setenv("REX_WAIT", "sometimes", 1);
    CHECK_EQUAL(rex_configure(REX_OPTION_WAIT, "spin"), REX_OK);
    rex_log(REX_LOG_WARN, "chosen");
    CHECK_EQUAL(rex_setting_wait(), REX_WAIT_SPIN);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(rex_configure(REX_OPTION_WAIT, NULL), REX_OK);
    CHECK_EQUAL(rex_setting_wait(), REX_WAIT_AUTO);
}

TEST(test_choice_instead)
{
    const char *output = in_child(choose_instead, NULL);
    assert_ptr_equal(strstr(output, "librex: warning: chosen\nlibrex: warning: REX_WAIT cannot be \"sometimes\""), output);
    assert_int_equal(occurrences(output, "REX_WAIT"), 1);
}

/* ---- names that are none ------------------------------------------------------------------------------------------------------- */

TEST(test_unknown_names)
{
    static const char *const near[][2] = {{"REX_WIAT", "REX_WAIT"}, {"REX_LOGS", "REX_LOG"}, {"REX_CUBIN_PAHT", "REX_CUBIN_PATH"},
                                          {"REX_OMP_TARGET", "REX_OMPTARGET"}, {"REX_LGO", "REX_LOG"}};
    static const char *const others[] = {"REX_TEST_LOG",  "REX_TEST_TRACE", "REX_TEST_RELEASE", "REX_LLVM_LIBDIR",
                                         "REX_BENCH",       "REX_BENCH_LOG", "REX_LIB",        "REX_HOME",         "REX_"};
    char expected[256];
    for (size_t i = 0; i < COUNT(near); i++)
        setenv(near[i][0], "x", 1);
    for (size_t i = 0; i < COUNT(others); i++)
        setenv(others[i], "x", 1);
    const char *output = in_child(use_librex, NULL);
    for (size_t i = 0; i < COUNT(near); i++) {
        snprintf(expected, sizeof expected, "librex: warning: %s is no setting of librex; the nearest is %s\n", near[i][0], near[i][1]);
        if (occurrences(output, expected) != 1)
            fail_msg("%snot once in\n%s", expected, output);
        unsetenv(near[i][0]);
    }
    assert_int_equal(occurrences(output, "no setting"), COUNT(near));
    for (size_t i = 0; i < COUNT(others); i++)
        unsetenv(others[i]);
}

/* ---- what values mean ---------------------------------------------------------------------------------------------------------- */

static void trace_to(const void *value)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, value), REX_OK);
    rex_trace_start();
    CHECK_EQUAL(rex_trace_on(), strchr(value, '/') != NULL);
}

TEST(test_trace_off)
{
    static const char *const words[] = {"off", "No", "false", "0"};
    char folder[PATH_MAX], home[PATH_MAX];
    make_folder(folder);
    assert_non_null(getcwd(home, sizeof home));
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < COUNT(words); i++) {
        char path[16];
        assert_string_equal(in_child(trace_to, words[i]), "");
        assert_int_equal(access(words[i], F_OK), -1);
        snprintf(path, sizeof path, "./%s", words[i]);
        assert_string_equal(in_child(trace_to, path), "");
        assert_int_equal(access(words[i], F_OK), 0);
    }
    assert_int_equal(chdir(home), 0);
    remove_folder(folder);
}

TEST(test_program_overrides_environment)
{
    char value[REX_SETTING_MAX];
    for (size_t i = 0; i < COUNT(options); i++) {
        enum rex_option option = options[i].option;
        assert_string_equal(rex_setting_variable(option), options[i].variable);
        unsetenv(options[i].variable);
        assert_int_equal(rex_setting_text(option, value), 0);
        setenv(options[i].variable, "", 1); /* empty is as good as none */
        assert_int_equal(rex_setting_text(option, value), 0);
        setenv(options[i].variable, ":/nowhere/a%%b", 1);
        assert_int_equal(rex_setting_text(option, value), 1);
        assert_string_equal(value, ":/nowhere/a%%b");
        char chosen[] = ":/nowhere/c%%d";
        assert_int_equal(rex_configure(option, chosen), 0);
        chosen[0] = 'X'; /* it was copied */
        assert_int_equal(rex_setting_text(option, value), 1);
        assert_string_equal(value, ":/nowhere/c%%d");
        assert_int_equal(rex_configure(option, NULL), 0);
        assert_int_equal(rex_setting_text(option, value), 1);
        assert_string_equal(value, ":/nowhere/a%%b");
        unsetenv(options[i].variable);
    }
}

TEST(test_values)
{
    char text[REX_SETTING_MAX];
    static const char *const waits[] = {"auto", "spin", "yield", "block", "runtime"};
    for (int i = 0; i < (int)COUNT(waits); i++) {
        rex_configure(REX_OPTION_WAIT, waits[i]);
        assert_int_equal(rex_setting_wait(), i);
    }
    rex_configure(REX_OPTION_ADOPT, "Yes");
    rex_configure(REX_OPTION_CHECK, "0");
    rex_configure(REX_OPTION_UNFINISHED, "WAIT");
    assert_true(rex_setting_adopt() && rex_setting_check() == REX_CHECK_OFF && rex_setting_wait_for_unfinished());
    rex_configure(REX_OPTION_LOG, ":/nowhere/a:b");
    assert_int_equal(rex_setting_log(text), REX_LOG_WARN);
    assert_string_equal(text, "/nowhere/a:b");
    rex_configure(REX_OPTION_LOG, "0");
    assert_int_equal(rex_setting_log(text), REX_LOG_OFF);
    assert_string_equal(text, "");
    rex_configure(REX_OPTION_TRACE, "a");
    assert_int_equal(rex_setting_trace(text), REX_TRACE_TO_FILE);
    assert_string_equal(text, "a");
    rex_configure(REX_OPTION_TRACE, "-");
    assert_int_equal(rex_setting_trace(text), REX_TRACE_SUMMARY);
    assert_true(rex_setting_cache(text));
    assert_string_equal(text, "");
    rex_configure(REX_OPTION_CACHE, "a");
    assert_true(rex_setting_cache(text));
    assert_string_equal(text, "a");
    rex_configure(REX_OPTION_CACHE, "No");
    assert_false(rex_setting_cache(text));
    rex_configure(REX_OPTION_CACHE, "1");
    assert_true(rex_setting_cache(text));
    assert_string_equal(text, "");
    for (int i = 0; i < rex_setting_count(); i++)
        rex_configure((enum rex_option)i, NULL);
}

TEST_IN_CHILD(bad_settings)
{
    static char long_value[REX_SETTING_MAX + 1];
    char value[REX_SETTING_MAX];
    unsetenv("REX_LOG");
    CHECK_EQUAL(rex_configure((enum rex_option)99, "x"), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "no option 99");
    CHECK_EQUAL(rex_configure((enum rex_option)-1, "x"), REX_EINVAL);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "loud"), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "\"loud\"");
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "loud:/tmp/a"), REX_EINVAL);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info:"), REX_EINVAL);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, ""), 0);
    CHECK_EQUAL(rex_setting_text(REX_OPTION_LOG, value), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "DEBUG"), 0);
    memset(long_value, 'x', REX_SETTING_MAX);
    CHECK_EQUAL(rex_configure(REX_OPTION_CUBIN, long_value), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "REX_CUBIN");
    long_value[REX_SETTING_MAX - 1] = '\0';
    CHECK_EQUAL(rex_configure(REX_OPTION_CUBIN, long_value), 0);
    CHECK_EQUAL(rex_setting_text(REX_OPTION_CUBIN, value), 1);
    CHECK(strcmp(value, long_value) == 0);
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

TEST(test_log_levels)
{
    static const struct {
        const char *level;
        int lines;
    } cases[] = {{"off", 0},  {"error", 1}, {"warn", 2},  {NULL, 2},
                 {"info", 3}, {"debug", 4}, {"Debug", 4}, {"nonsense", 2}, {"Warning", 2}, {"debug:", 2}};
    static const char *const in_order[] = {"librex: error: error line\n", "librex: warning: warn line\n", "librex: info: info line\n",
                                           "librex: debug: debug line\n"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *output = in_child(one_line_of_each, cases[i].level);
        for (int line = 0; line < 4; line++)
            assert_int_equal(occurrences(output, in_order[line]), line < cases[i].lines);
        assert_int_equal(occurrences(output, "librex: error: a failure [REX_EINVAL]\n"), cases[i].lines > 0);
    }
}

/* Who wants to know is told whenever the level becomes debug, and of nothing else. */
static int times_told;

static void tell(void)
{
    times_told++;
}

TEST_IN_CHILD(becomes_debug)
{
    static const struct {
        const char *level;
        int times;
    } steps[] = {{"info", 0}, {"debug", 1}, {"debug", 1}, {"warn", 1}, {"off", 1}, {"debug", 2}, {"error", 2}};
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    rex_log_on_debug(tell);
    for (size_t i = 0; i < COUNT(steps); i++) {
        CHECK_EQUAL(rex_configure(REX_OPTION_LOG, steps[i].level), 0);
        CHECK_EQUAL(times_told, steps[i].times);
    }
    rex_log_on_debug(NULL);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), 0);
    CHECK_EQUAL(times_told, 2);
}

/* A process that has said nothing yet reads its environment at its first line, and once. */
static void first_line(const void *context)
{
    (void)context;
    rex_log_level_now = REX_LOG_UNKNOWN;
    setenv("REX_LOG", "info", 1);
    rex_log(REX_LOG_INFO, "first");
    setenv("REX_LOG", "off", 1);
    rex_log(REX_LOG_INFO, "second");
    rex_log(REX_LOG_DEBUG, "third");
}

TEST(test_becomes_debug)
{
    assert_string_equal(in_child(first_line, NULL), "librex: info: first\nlibrex: info: second\n");
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

TEST(test_error_is_printed_once)
{
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

TEST_IN_CHILD(each_thread_has_its_own)
{
    pthread_t thread;
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

static void long_message(const void *context)
{
    static char text[3 * REX_MESSAGE_MAX];
    (void)context;
    memset(text, 'm', sizeof text - 1);
    rex_fail(REX_EINVAL, "%s", text);
    CHECK_EQUAL(strlen(rex_last_error()), REX_MESSAGE_MAX - 1);
}

TEST(test_long_message)
{
    const char *output = in_child(long_message, NULL), *end = "mmm [REX_EINVAL]\n";
    assert_int_equal(strlen(output), strlen("librex: error: ") + REX_MESSAGE_MAX - 1 + strlen(" [REX_EINVAL]\n"));
    assert_string_equal(output + strlen(output) - strlen(end), end);
}

TEST(test_names)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {
#define NAME(name, value, text) {(value), #name},
        REX_ERRORS(NAME)
#undef NAME
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_int_equal(names[i].code, -(int)i); /* no gap, no value twice */
        assert_string_equal(rex_error_name(names[i].code), names[i].name);
    }
    assert_string_equal(rex_error_name(1), "unknown error");
    assert_string_equal(rex_error_name(-(int)COUNT(names)), "unknown error");
    assert_int_equal(REX_EHOST, -1); /* what libomptarget returns */
    assert_string_equal(rex_version(), REX_VERSION_STRING);
}
