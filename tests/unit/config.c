/*
 * config.c - settings, log levels, and the last error of each thread.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <pthread.h>

#include "base/settings.h"
#include "rex/entry.h"
#include "rex/inspect.h"
#include "rex/map.h"

/* ---- what is said ------------------------------------------------------------------------------------------------ */

static char lines[16384];

/* Of the log, as standard error has it. */
static void keep_line(enum rex_log_level level, const char *message, void *context)
{
    static const char *const names[] = {"", "error", "warning", "info", "debug"};
    size_t length = strlen(lines);
    (void)context;
    snprintf(lines + length, sizeof lines - length, "\nlibrex: %s: %s\n", names[level], message);
}

/* WHAT is said, and not more than once. */
static void said_once(const char *what)
{
    char line[1100];
    snprintf(line, sizeof line, "\n%s\n", what);
    if (occurrences(lines, line) != 1) {
        fprintf(stderr, "\"%s\" is not once in:%s", what, lines);
        _exit(99);
    }
}

static const char *wanted_variable;
static char setting[REX_SETTING_MAX + 32];

static void keep_setting(const char *group, const char *name, const char *value, void *context)
{
    (void)context;
    if (strcmp(group, "setting") == 0 && strcmp(name, wanted_variable) == 0)
        snprintf(setting, sizeof setting, "%s", value);
}

/* VARIABLE's setting is VALUE, from SOURCE. */
static void expect_setting(const char *variable, const char *value, const char *source)
{
    char expected[sizeof setting];
    snprintf(expected, sizeof expected, "%s (%s)", value, source);
    wanted_variable = variable;
    CHECK_EQUAL(rex_info(0, keep_setting, NULL), REX_OK);
    if (strcmp(setting, expected) == 0)
        return;
    fprintf(stderr, "%s is %s, and not %s\n", variable, setting, expected);
    _exit(99);
}

/* Errors are kept as lines; libomptarget is in the process already, whatever the settings say. */
static void start(void)
{
    rex_set_log_callback(keep_line, NULL);
    use_gpu(90);
    CHECK(dlopen(FAKE("22/libomp.so.5"), RTLD_NOW | RTLD_GLOBAL) != NULL);
    CHECK(dlopen(FAKE("22/libomptarget.so.22"), RTLD_NOW | RTLD_GLOBAL) != NULL);
}

/* ---- values that a variable cannot have -------------------------------------------------------------------------- */

static const struct known {
    enum rex_option option;
    const char *variable;
    const char *bad, *values, *otherwise; /* NULL: no value is bad but one that is too long */
    const char *good[12];
} known[] = {
    {REX_OPTION_OMPTARGET, "REX_OMPTARGET", NULL, NULL, "none", {"on", "0"}},
    {REX_OPTION_CUBIN, "REX_CUBIN", NULL, NULL, "none", {"off"}},
    {REX_OPTION_CUBIN_PATH, "REX_CUBIN_PATH", NULL, NULL, "none", {"a:b"}},
    {REX_OPTION_LOG, "REX_LOG",
     "loud",
     "off, error, warn, info or debug, and :FILE behind it or alone",
     "warn",
     {"off", "No", "FALSE", "0", "error", "warn", "warning", "info", "Debug", "warn:/dev/null", ":/dev/null", NULL}},
    {REX_OPTION_WAIT, "REX_WAIT", "sometimes", "auto, spin, yield, block or runtime", "auto", {"auto", "SPIN", "yield", "block", "runtime"}},
    {REX_OPTION_ADOPT, "REX_ADOPT", "2", "on or off", "off", {"on", "Yes", "true", "1", "off", "no", "false", "0"}},
    {REX_OPTION_UNFINISHED, "REX_UNFINISHED", "on", "error or wait", "error", {"error", "Wait"}},
    {REX_OPTION_TRACE, "REX_TRACE", "On", "the name of a file, - or off", "off", {"off", "no", "FALSE", "0", "-", "./0", "trace.json"}},
    {REX_OPTION_CHECK, "REX_CHECK", "perhaps", "on, off or full", "on", {"on", "yes", "TRUE", "1", "off", "no", "false", "0", "Full"}},
    {REX_OPTION_CACHE, "REX_CACHE", NULL, NULL, "on", {"on", "off", "/tmp"}},
    {REX_OPTION_LAUNCH_BY, "REX_LAUNCH_BY", "clang", "auto, driver or runtime", "auto", {"auto", "Driver", "runtime"}},
    {REX_OPTION_COPY_THREADS, "REX_COPY_THREADS", "9", "auto or a number from 0 to 8", "auto", {"auto", "AUTO", "0", "1", "8"}},
    {REX_OPTION_REQUIRE_GPU, "REX_REQUIRE_GPU", "always", "on or off", "off", {"on", "Yes", "true", "1", "off", "no", "false", "0"}},
};

static const char *complaint_of(const struct known *known_setting, bool is_long)
{
    static char text[512];
    if (is_long)
        snprintf(text, sizeof text, "%s cannot be longer than 4095 bytes", known_setting->variable);
    else
        snprintf(text, sizeof text, "%s cannot be \"%s\", only %s", known_setting->variable, known_setting->bad, known_setting->values);
    return text;
}

/* Bad values, where there are such, or longer than any setting: each is told of once, and is not used. */
TEST_OF_EACH(bad_in_environment, size_t, length, 0, REX_SETTING_MAX, 100000)
{
    static char too_long[100001];
    char expected[1024];
    memset(too_long, 'x', length > 0 ? length : REX_SETTING_MAX);
    for (size_t i = 0; i < COUNT(known); i++)
        setenv(known[i].variable, length == 0 && known[i].bad != NULL ? known[i].bad : too_long, 1);
    start();
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
    for (size_t i = 0; i < COUNT(known); i++) {
        const char *complaint = complaint_of(&known[i], length > 0 || known[i].bad == NULL);
        snprintf(expected, sizeof expected, "librex: warning: %s; %s is used", complaint, known[i].otherwise);
        said_once(expected);
    }
    CHECK_EQUAL(occurrences(lines, " cannot be "), COUNT(known));
    CHECK_EQUAL(occurrences(lines, "no setting"), 0);
}

TEST_IN_CHILD(values_of_the_program)
{
    static char too_long[REX_SETTING_MAX + 1];
    memset(too_long, 'x', REX_SETTING_MAX);
    start();
    CHECK_EQUAL(rex_configure((enum rex_option)-1, "x"), REX_EINVAL);
    CHECK_EQUAL(rex_configure((enum rex_option)COUNT(known), "x"), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "no option 13");
    for (size_t i = 0; i < COUNT(known); i++) {
        CHECK_EQUAL(rex_configure(known[i].option, known[i].bad != NULL ? known[i].bad : too_long), REX_EINVAL);
        CHECK_MENTIONS(rex_last_error(), complaint_of(&known[i], known[i].bad == NULL));
        for (const char *const *good = known[i].good; *good != NULL; good++) {
            CHECK_EQUAL(rex_configure(known[i].option, *good), REX_OK);
            expect_setting(known[i].variable, *good, "the program");
        }
        CHECK_EQUAL(rex_configure(known[i].option, ""), REX_OK);
        wanted_variable = known[i].variable;
        CHECK_EQUAL(rex_info(0, keep_setting, NULL), REX_OK);
        CHECK(strstr(setting, "the program") == NULL);
    }
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "loud:/tmp/a"), REX_EINVAL);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info:"), REX_EINVAL);
    too_long[REX_SETTING_MAX - 1] = '\0';
    CHECK_EQUAL(rex_configure(REX_OPTION_CUBIN, too_long), REX_OK);
    expect_setting("REX_CUBIN", too_long, "the program");
}

/* A value that the program has replaced is not told of; given back to the environment it is. */
TEST_IN_CHILD(choice_instead)
{
    start();
    setenv("REX_WAIT", "sometimes", 1);
    CHECK_EQUAL(rex_configure(REX_OPTION_WAIT, "spin"), REX_OK);
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
    expect_setting("REX_WAIT", "spin", "the program");
    CHECK(strstr(lines, "sometimes") == NULL);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(rex_configure(REX_OPTION_WAIT, NULL), REX_OK);
    CHECK_EQUAL(occurrences(lines, "REX_WAIT cannot be \"sometimes\""), 1);
    expect_setting("REX_WAIT", "auto", "default");
}

/* The program's value comes before the environment's, of which an empty one is none. It is copied. */
TEST_IN_CHILD(program_before_environment)
{
    start();
    for (size_t i = 0; i < COUNT(known) && known[i].option <= REX_OPTION_LOG; i++) {
        char own[] = ":/nowhere/c%%d";
        setenv(known[i].variable, "", 1);
        wanted_variable = known[i].variable;
        CHECK_EQUAL(rex_info(0, keep_setting, NULL), REX_OK);
        CHECK(strcmp(setting, known[i].option == REX_OPTION_LOG ? "warn (default)" : "not set") == 0);
        setenv(known[i].variable, ":/nowhere/a%%b", 1);
        expect_setting(known[i].variable, ":/nowhere/a%%b", "the environment");
        CHECK_EQUAL(rex_configure(known[i].option, own), 0);
        own[0] = 'X';
        expect_setting(known[i].variable, ":/nowhere/c%%d", "the program");
        CHECK_EQUAL(rex_configure(known[i].option, NULL), 0);
        expect_setting(known[i].variable, ":/nowhere/a%%b", "the environment");
        unsetenv(known[i].variable);
    }
}

/* ---- names that are none ----------------------------------------------------------------------------------------- */

TEST_IN_CHILD(unknown_names)
{
    static const char *const near[][2] = {{"REX_WIAT", "REX_WAIT"}, {"REX_LOGS", "REX_LOG"}, {"REX_CUBIN_PAHT", "REX_CUBIN_PATH"},
                                          {"REX_OMP_TARGET", "REX_OMPTARGET"}, {"REX_LGO", "REX_LOG"}};
    static const char *const others[] = {"REX_TEST_LOG", "REX_TEST_TRACE", "REX_TEST_RELEASE", "REX_LLVM_LIBDIR", "REX_BENCH",
                                         "REX_BENCH_LOG", "REX_LIB", "REX_HOME", "REX_"};
    char expected[256];
    for (size_t i = 0; i < COUNT(near); i++)
        setenv(near[i][0], "x", 1);
    for (size_t i = 0; i < COUNT(others); i++)
        setenv(others[i], "x", 1);
    start();
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
    for (size_t i = 0; i < COUNT(near); i++) {
        snprintf(expected, sizeof expected, "librex: warning: %s is no setting of librex; the nearest is %s", near[i][0], near[i][1]);
        said_once(expected);
    }
    CHECK_EQUAL(occurrences(lines, "no setting"), COUNT(near));
}

/* ---- what values mean -------------------------------------------------------------------------------------------- */

static char key;
static struct __tgt_offload_entry entry[] = {{&key, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof module, .entries_begin = entry, .entries_end = entry + 1,
                                   .image_name = "tests/data/sm_90.cubin"};

/* A word turns the trace off; with a folder before it, it is a file. */
TEST_OF_EACH(trace_off, const char *, word, "No", "./No")
{
    char folder[PATH_MAX], image[PATH_MAX], path[PATH_MAX];
    use_gpu(90);
    CHECK(realpath(module.image_name, image) != NULL && realpath(FAKE("22/libomptarget.so.22"), path) != NULL);
    CHECK_EQUAL(rex_configure(REX_OPTION_OMPTARGET, path), REX_OK);
    make_folder(folder);
    CHECK_EQUAL(chdir(folder), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_TRACE, word), REX_OK);
    CHECK_EQUAL(rex_module_register(&module, image), REX_OK);
    CHECK_EQUAL(access(word, F_OK) == 0, strchr(word, '/') != NULL);
    remove_folder(folder);
}

/* ---- the log ----------------------------------------------------------------------------------------------------- */

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
