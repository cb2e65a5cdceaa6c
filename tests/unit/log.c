/*
 * log.c - where lines go: a file, a function of the program; what they leave alone: errno, the last error; rows in words.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <errno.h>
#include <pthread.h>

#include "base/error.h"
#include "base/log.h"
#include "trace/trace.h"
#include "trace/traceline.h"
#include "omp/callreport.h"
#include "omp/flight.h"
#include "rex/entry.h"
#include "rex/launch.h"

static char folder[PATH_MAX];

static const char *in_folder(const char *name)
{
    static char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void configure(const char *level_and_name)
{
    char value[2 * PATH_MAX];
    const char *colon = strchr(level_and_name, ':');
    snprintf(value, sizeof value, "%.*s:%s/%s", (int)(colon - level_and_name), level_and_name, folder, colon + 1);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, value), 0);
}

static char *text_of(const char *name)
{
    size_t size;
    char *text = (char *)read_bytes(in_folder(name), &size);
    text = realloc(text, size + 1);
    assert_non_null(text);
    text[size] = '\0';
    return text;
}

/* ---- a file ------------------------------------------------------------------------------------------------------ */

static void to_a_file(const void *context)
{
    (void)context;
    configure("info:plain");
    rex_log(REX_LOG_INFO, "to the file");
    rex_log(REX_LOG_DEBUG, "nowhere");
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    rex_log(REX_LOG_INFO, "to standard error");
    configure(":plain"); /* warn */
    rex_log(REX_LOG_INFO, "nowhere");
    rex_log(REX_LOG_WARN, "behind it");
    configure("debug:100%% of %p");
    rex_log(REX_LOG_DEBUG, "by %ld", (long)getpid());
}

static void no_such_folder(const void *context)
{
    (void)context;
    configure("info:missing/file");
    rex_log(REX_LOG_INFO, "one line");
    rex_log(REX_LOG_INFO, "another");
}

static void from_the_environment(const void *context)
{
    (void)context;
    char value[3 * PATH_MAX];
    snprintf(value, sizeof value, "debug:%s", in_folder("environment"));
    setenv("REX_LOG", value, 1);
    rex_configure(REX_OPTION_LOG, NULL);
    rex_log(REX_LOG_DEBUG, "in it");
}

/* Each process has a file of its own where the name says so. */
TEST_IN_CHILD(forks)
{
    int status;
    configure("info:of %p");
    rex_log(REX_LOG_INFO, "by %ld", (long)getpid());
    pid_t child = fork();
    if (child == 0) {
        rex_log(REX_LOG_INFO, "by %ld", (long)getpid());
        _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    for (int i = 0; i < 2; i++) {
        char name[64], line[64];
        long pid = i == 0 ? (long)getpid() : (long)child;
        snprintf(name, sizeof name, "of %ld", pid);
        snprintf(line, sizeof line, "librex: info: by %ld\n", pid);
        char *text = text_of(name);
        CHECK(strcmp(text, line) == 0);
        free(text);
    }
}

/* A file is opened once: what is moved away is written to, and its old name stays free, in a child of fork too. */
TEST_OF_EACH(opened_once, const char *, name, "once", "once each ")
{
    int status;
    char old[2 * PATH_MAX], moved[2 * PATH_MAX], setting[64];
    snprintf(setting, sizeof setting, "info:%s%s", name, strcmp(name, "once") == 0 ? "" : "%p");
    configure(setting);
    rex_log(REX_LOG_INFO, "before");
    snprintf(old, sizeof old, "%s", in_folder(name));
    if (strcmp(name, "once") != 0)
        snprintf(old + strlen(old), sizeof old - strlen(old), "%ld", (long)getpid());
    snprintf(moved, sizeof moved, "%s", in_folder("moved"));
    CHECK_EQUAL(rename(old, moved), 0);
    rex_log(REX_LOG_INFO, "after");
    if (strcmp(name, "once") == 0) {
        pid_t child = fork();
        if (child == 0) {
            rex_log(REX_LOG_INFO, "in a child");
            _exit(0);
        }
        CHECK_EQUAL(waitpid(child, &status, 0), child);
    }
    CHECK(access(old, F_OK) != 0);
    char *text = text_of("moved");
    CHECK_EQUAL(occurrences(text, "librex: info: before\nlibrex: info: after\n"), 1);
    CHECK_EQUAL(occurrences(text, "librex: info: in a child\n"), strcmp(name, "once") == 0);
    free(text);
}

TEST(test_files)
{
    const char *output = in_child(to_a_file, NULL);
    assert_string_equal(output, "librex: info: to standard error\n");
    char *text = text_of("plain");
    assert_string_equal(text, "librex: info: to the file\nlibrex: warning: behind it\n");
    free(text);
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "grep -q '^librex: debug: by [0-9]*$' '%s/100%% of '[0-9]*", folder);
    assert_int_equal(system(command), 0);

    output = in_child(no_such_folder, NULL);
    assert_int_equal(occurrences(output, "cannot be opened: No such file or directory; standard error is used\n"), 1);
    assert_int_equal(occurrences(output, "missing/file"), 1);
    assert_int_equal(occurrences(output, "librex: info: one line\nlibrex: info: another\n"), 1);

    assert_string_equal(in_child(from_the_environment, NULL), "");
    text = text_of("environment");
    assert_string_equal(text, "librex: debug: in it\n");
    free(text);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 8, LINES = 500, WIDTH = 300 };

static void *many_lines(void *number)
{
    char letters[WIDTH + 1];
    memset(letters, 'a' + *(int *)number, WIDTH);
    letters[WIDTH] = '\0';
    for (int i = 0; i < LINES; i++)
        rex_log(REX_LOG_INFO, "%s", letters);
    return NULL;
}

static void lines_of_threads(const void *context)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    (void)context;
    configure("info:threads");
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK_EQUAL(pthread_create(&threads[i], NULL, many_lines, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

TEST(test_whole_lines)
{
    int counts[THREADS] = {0};
    in_child(lines_of_threads, NULL);
    char *text = text_of("threads"), *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        int number = line[strlen("librex: info: ")] - 'a';
        assert_int_equal(strlen(line), strlen("librex: info: ") + WIDTH);
        assert_in_range(number, 0, THREADS - 1);
        assert_int_equal(strspn(line + strlen("librex: info: "), (char[]){(char)('a' + number), '\0'}), WIDTH);
        counts[number]++;
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(counts[i], LINES);
    free(text);
}

/* ---- a function of the program ------------------------------------------------------------------------------------ */

static struct {
    int calls;
    enum rex_log_level level;
    char message[256];
    pthread_mutex_t *taken; /* has to be free */
} got;

/* Calls librex, which fails, and leaves another errno. */
static void receive(enum rex_log_level level, const char *message, void *context)
{
    CHECK(context == &got);
    got.calls++;
    got.level = level;
    snprintf(got.message, sizeof got.message, "%s", message);
    if (got.taken != NULL) {
        CHECK_EQUAL(pthread_mutex_trylock(got.taken), 0);
        pthread_mutex_unlock(got.taken);
    }
    CHECK_EQUAL(rex_configure((enum rex_option)99, "x"), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "no option 99");
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
    errno = EDOM;
}

static void callback(const void *context)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    (void)context;
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    rex_set_log_callback(receive, &got);
    errno = EISDIR;
    rex_log(REX_LOG_INFO, "the %s", "first");
    CHECK_EQUAL(errno, EISDIR);
    CHECK_EQUAL(got.calls, 1);
    CHECK_EQUAL(got.level, REX_LOG_INFO);
    CHECK(strcmp(got.message, "the first") == 0);
    rex_log(REX_LOG_DEBUG, "too much");
    CHECK_EQUAL(got.calls, 1);

    CHECK_EQUAL(rex_fail(REX_EKEY, "an error"), REX_EKEY);
    CHECK_EQUAL(errno, EISDIR);
    CHECK_EQUAL(got.calls, 2);
    CHECK_EQUAL(got.level, REX_LOG_ERROR);
    CHECK_EQUAL(rex_last_error_code(), REX_EKEY);
    CHECK(strcmp(rex_last_error(), "an error") == 0);

    /* What is said under locks comes when the last one is free, in order. */
    got.taken = &mutex;
    rex_lock(&mutex);
    rex_log_hold();
    rex_log(REX_LOG_INFO, "under a lock");
    rex_log(REX_LOG_WARN, "under a lock, too");
    rex_log_resume();
    CHECK_EQUAL(got.calls, 2);
    rex_unlock(&mutex);
    CHECK_EQUAL(got.calls, 4);
    CHECK(strcmp(got.message, "under a lock, too") == 0);
    CHECK_EQUAL(got.level, REX_LOG_WARN);
    CHECK_EQUAL(errno, EISDIR);

    rex_set_log_callback(NULL, NULL);
    rex_log(REX_LOG_INFO, "to standard error");
    CHECK_EQUAL(got.calls, 4);
}

TEST(test_callback)
{
    const char *output = in_child(callback, NULL);
    assert_int_equal(occurrences(output, "librex: info: to standard error\n"), 1);
    /* What librex said to the function itself. */
    assert_true(occurrences(output, "no option 99") > 0);
    assert_int_equal(occurrences(output, "an error"), 0);
    assert_int_equal(occurrences(output, "under a lock"), 0);
}

/* No error path changes errno, whether it is printed, kept from the log, or recorded alone. */
TEST_IN_CHILD(errno_stays)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "off"), 0);
    configure("debug:errno");
    for (int i = 0; i < 2; i++) {
        errno = ENOTTY;
        rex_fail(REX_EINVAL, "%s %s", "another", i == 0 ? "error" : "one");
        rex_fail_again(REX_EINVAL, "again");
        rex_fail_memory(17, "a test");
        rex_log(REX_LOG_DEBUG, "a line");
        CHECK_EQUAL(errno, ENOTTY);
        CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "off"), 0);
    }
}

/* ---- what others named -------------------------------------------------------------------------------------------- */

static const char forging[] = "a\nlibrex: forged \x1b[2Jb\x7f\xc2\x9b" "c\xff \xc3\xa4\xe2\x82\xac\\";
static const char harmless[] = "a\\x0alibrex: forged \\x1b[2Jb\\x7f\\xc2\\x9bc\\xff \xc3\xa4\xe2\x82\xac\\";

static void named_by_others(const void *context)
{
    (void)context;
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    rex_log(REX_LOG_INFO, "line %s", forging);
    rex_fail(REX_EKEY, "kernel \"%s\"", forging);
    CHECK_MENTIONS(rex_last_error(), harmless);
    rex_fail(REX_EKEY, "again: %s", rex_last_error()); /* once is enough */
    CHECK_MENTIONS(rex_last_error(), harmless);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, forging), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), harmless);
    rex_set_log_callback(receive, &got);
    rex_log(REX_LOG_INFO, "%s", forging);
    CHECK(strcmp(got.message, harmless) == 0);
}

/* What has grown too long is cut off, and no character in the middle. */
TEST_IN_CHILD(grown)
{
    static char name[2 * REX_MESSAGE_MAX];
    memset(name, '\n', REX_MESSAGE_MAX / 2);
    rex_fail(REX_EKEY, "%s", name);
    CHECK_EQUAL(strlen(rex_last_error()), (REX_MESSAGE_MAX - 1) / 4 * 4);
    CHECK_EQUAL(occurrences(rex_last_error(), "\\x0a"), (REX_MESSAGE_MAX - 1) / 4);
}

TEST(test_escapes)
{
    const char *output = in_child(named_by_others, NULL);
    assert_int_equal(occurrences(output, harmless), 4);
    assert_int_equal(occurrences(output, "\nlibrex: forged"), 0);
    assert_int_equal(occurrences(output, "\x1b"), 0);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static char mapped[4000];

static void rows_in_words(const void *context)
{
    void *base[] = {mapped, mapped + 8, (void *)42, (void *)43, mapped}, *begin[] = {mapped, mapped, (void *)44, (void *)45, mapped};
    int64_t sizes[] = {4000, 16, 8, 4, 1}, types[] = {0x21, 0x2000000000003, 0x120, 0x120, 0};
    void *names[] = {(char[]){";x[0:1000];main.c;12;3;;"}, (char[]){"y"}, NULL, (char[]){";n;main.c"}, NULL};
    void *mappers[] = {NULL, mapped, NULL, mapped, mapped};
    struct __tgt_kernel_arguments packet = {.NumArgs = 5,
                                            .ArgsBase = base,
                                            .Args = begin,
                                            .ArgSizes = sizes,
                                            .ArgTypes = types,
                                            .ArgNames = names,
                                            .ArgMappers = mappers,
                                            .Teams = {4, 3, 2},
                                            .Threads = {256, 5, 7},
                                            .DynCGroupMem = 64};
    (void)context;
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), 0);
    rex_rows_log("axpy__kernel__", -1, &packet);
    packet.ArgNames = NULL;
    packet.ArgMappers = NULL;
    packet.Teams[0] = 0;
    rex_rows_log("data call", 2, &packet);
    packet.NumArgs = 0;
    rex_rows_log("nothing", 1, &packet);
}

TEST(test_rows)
{
    static const struct {
        int64_t type;
        const char *text;
    } cases[] = {
        {0, "alloc"}, {0x21, "to|target_param"}, {0x3, "to|from"}, {0x120, "target_param|literal"}, {0x100000000001, "to|non_contig"},
        {0x1000000000018, "delete|ptr_and_obj|member_of(1)"}, {0x1000 | 0x2000 | 0x200 | 0x4, "always|implicit|present|ompx_hold"},
        {0x8c0, "return_param|private|0x800"}, {0x4400, "close|attach"},
    };
    char text[256], small[6];
    for (size_t i = 0; i < COUNT(cases); i++) {
        rex_type_text(cases[i].type, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
    rex_type_text(0x21, small, sizeof small);
    assert_string_equal(small, "to|ta");
    char expected[4096];
    snprintf(expected, sizeof expected,
             "librex: debug: axpy__kernel__: device -1, 4 x 3 x 2 teams of 256 x 5 x 7 threads, 64 bytes of dynamic shared memory, 5 rows\n"
             "librex: debug: axpy__kernel__: row 0: to|target_param x[0:1000] 4000 bytes\n"
             "librex: debug: axpy__kernel__: row 1: to|from|member_of(2) y 16 bytes, base %p, through a mapper\n"
             "librex: debug: axpy__kernel__: row 2: target_param|literal 0x2c = 0x2a, 8 bytes\n"
             "librex: debug: axpy__kernel__: row 3: target_param|literal n = 0x2b, 4 bytes\n"
             "librex: debug: axpy__kernel__: row 4: alloc %p 1 bytes, through a mapper\n"
             "librex: debug: data call: device 2, 5 rows\n"
             "librex: debug: data call: row 0: to|target_param %p 4000 bytes\n"
             "librex: debug: data call: row 1: to|from|member_of(2) %p 16 bytes, base %p\n"
             "librex: debug: data call: row 2: target_param|literal 0x2a, 8 bytes\n"
             "librex: debug: data call: row 3: target_param|literal 0x2b, 4 bytes\n"
             "librex: debug: data call: row 4: alloc %p 1 bytes\n"
             "librex: debug: nothing: device 1, 0 rows\n",
             (void *)(mapped + 8), (void *)mapped, (void *)mapped, (void *)mapped, (void *)(mapped + 8), (void *)mapped);
    assert_string_equal(in_child(rows_in_words, NULL), expected);
}

/* ---- each call once ----------------------------------------------------------------------------------------------- */

/* rules.mk leads calls of malloc() here. */
static bool memory_is_out;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return memory_is_out ? NULL : __real_malloc(size);
}

REX_KERNEL(plain);
static struct __tgt_offload_entry entry[] = {{&plain__id__, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entry,
                                   .entries_end = entry + 1,
                                   .image_name = "tests/data/sm_90.cubin"};
static double x[50];

static void start_at(const char *level)
{
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, level), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
}

/* What there is no memory to hold back is written at once, and not given to the program's function, which the thread may not call yet. */
static void held_without_memory(const void *context)
{
    (void)context;
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    rex_set_log_callback(receive, &got);
    rex_log_hold();
    rex_log(REX_LOG_INFO, "held");
    memory_is_out = true;
    rex_log(REX_LOG_INFO, "no memory");
    memory_is_out = false;
    rex_log(REX_LOG_WARN, "held, too");
    CHECK_EQUAL(got.calls, 0);
    rex_log_hold();
    rex_log_resume();
    CHECK_EQUAL(got.calls, 0);
    rex_log_resume();
    CHECK_EQUAL(got.calls, 2);
    CHECK(strcmp(got.message, "held, too") == 0);
}

TEST(test_held_without_memory)
{
    const char *output = in_child(held_without_memory, NULL);
    assert_ptr_equal(strstr(output, "librex: info: no memory\n"), output);
    assert_int_equal(occurrences(output, "held"), 0);
}

/* librex's own call, which is logged and then fails, does not hide the program's own after it. */
static void logged_after_a_failure(const void *context)
{
    (void)context;
    start_at("debug");
    REX_MAP(region, REX_RETURN(REX_TO(x, 50)));
    memory_is_out = true;
    CHECK_EQUAL(rex_module_data_enter(&module, 0, &region), REX_ENOMEM);
    memory_is_out = false;
    __rex_real___tgt_target_data_update(0, REX_MAP_ARGUMENTS(region));
}

/* What librex checks and the program then calls, and what librex calls itself. */
static void logged_once(const void *context)
{
    (void)context;
    start_at("debug");
    REX_MAP(region, REX_TO(x, 50));
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)x, sizeof x, 0x10000000};
    CHECK_EQUAL(rex_module_check_map(&module, 0, REX_MAP_ARGUMENTS(region)), 0);
    __rex_real___tgt_target_data_begin(0, REX_MAP_ARGUMENTS(region));
    CHECK_EQUAL(rex_module_data_update(&module, 0, &region), 0);
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &region), 0);
    /* Turned off and on again: so are those of the program's. */
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "warn"), 0);
    __rex_real___tgt_target_data_begin(0, REX_MAP_ARGUMENTS(region));
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), 0);
    __rex_real___tgt_target_data_end(0, REX_MAP_ARGUMENTS(region));
    CHECK(!rex_flight_is_inside());
    CHECK_EQUAL(rex_trace_depth, 0);
}

/* What is logged is passed on as it is, each number in its place; and so is what libomptarget returns. */
static void passed_on(const void *context)
{
    int64_t a = 1, b = 2;
    struct rex_launch_config launch = rex_launch_config_of(&plain__id__, 0, 0);
    void *base[] = {x}, *begin[] = {x + 1};
    int64_t sizes[] = {8}, types[] = {0x21};
    struct __tgt_kernel_arguments packet = {.Version = 3,
                                            .NumArgs = 1,
                                            .ArgsBase = base,
                                            .Args = begin,
                                            .ArgSizes = sizes,
                                            .ArgTypes = types,
                                            .Teams = {2, 3, 5},
                                            .Threads = {7, 11, 13},
                                            .DynCGroupMem = 17};
    const struct fake_call *call;
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b));
    setenv("FAKE_DEVICES", "3", 1);
    setenv("REX_LAUNCH_BY", "runtime", 1);
    start_at(context);
    memcpy(launch.teams, (const uint32_t[]){4, 1, 1}, sizeof launch.teams);
    memcpy(launch.threads, (const uint32_t[]){32, 1, 1}, sizeof launch.threads);
    launch.device = 2;
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), 0);
    call = last_call(FAKE_KERNEL);
    CHECK(call->device == 2 && call->teams == 4 && call->threads == 32 && call->key == &plain__id__ && call->packet.rows == 2);
    the_record()->result = 1;
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), REX_EHOST);
    the_record()->result = 3;
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, 1, 2, 7, &plain__id__, &packet), 3);
    call = last_call(FAKE_KERNEL);
    CHECK(call->device == 1 && call->teams == 2 && call->threads == 7 && call->key == &plain__id__);
    CHECK(call->packet.base == base && call->packet.begin == begin && call->packet.sizes == sizes && call->packet.types == types);
    CHECK(call->packet.teams[2] == 5 && call->packet.threads[1] == 11 && call->packet.dynamic_memory == 17);
    the_record()->result = 4;
    CHECK_EQUAL(__rex_real___tgt_target_teams(2, &plain__id__, 1, base, begin, sizes, types, 19, 23), 4);
    call = last_call(FAKE_TEAMS);
    CHECK(call->device == 2 && call->teams == 19 && call->threads == 23 && call->base[0] == x && call->begin[0] == x + 1);
    the_record()->result = 5;
    CHECK_EQUAL(__rex_real___tgt_target(0, &plain__id__, 1, base, begin, sizes, types), 5);
    call = last_call(FAKE_TARGET);
    CHECK(call->device == 0 && call->key == &plain__id__ && call->sizes[0] == 8 && call->types[0] == 0x21);
    the_record()->result = 0;
    static char unknown;
    CHECK_EQUAL(__rex_real___tgt_target_teams(0, &unknown, 0, NULL, NULL, NULL, NULL, 1, 1), 0);
    __rex_real___tgt_target_data_begin(1, 1, base, begin, sizes, types);
    CHECK(last_call(FAKE_BEGIN)->device == 1 && last_call(FAKE_BEGIN)->begin[0] == x + 1);
    __rex_real___tgt_target_data_update(2, 1, base, begin, sizes, types);
    CHECK(last_call(FAKE_UPDATE)->device == 2 && last_call(FAKE_UPDATE)->base[0] == x);
    __rex_real___tgt_target_data_end(0, 1, base, begin, sizes, types);
    CHECK(last_call(FAKE_END)->device == 0 && last_call(FAKE_END)->packet.rows == 1);
    __rex_real___tgt_target_data_end(0, 0, NULL, NULL, NULL, NULL); /* is not logged */
    CHECK(!rex_flight_is_inside());
    CHECK_EQUAL(rex_trace_depth, 0);
    CHECK_EQUAL(rex_module_fini(&module), 0);
}

TEST(test_calls)
{
    const char *output = in_child(logged_after_a_failure, NULL);
    assert_int_equal(occurrences(output, "data update: device 0, 1 rows"), 1);
    output = in_child(logged_once, NULL);
    assert_int_equal(occurrences(output, "data begin: device 0, 1 rows"), 1);
    assert_int_equal(occurrences(output, "data update: device 0, 1 rows"), 1);
    assert_int_equal(occurrences(output, "data exit: device 0, 1 rows"), 1);
    assert_int_equal(occurrences(output, "data end: device 0, 1 rows"), 1);
    assert_int_equal(occurrences(output, "data call"), 0);
    assert_int_equal(occurrences(in_child(passed_on, "warn"), "rows\n"), 0);
    output = in_child(passed_on, "debug");
    static const char *const lines[] = {
        "plain__kernel__: device 2, 4 x 1 x 1 teams of 32 x 1 x 1 threads, 0 bytes of dynamic shared memory, 2 rows\n",
        "plain__kernel__: device 1, 2 x 3 x 5 teams of 7 x 11 x 13 threads, 17 bytes of dynamic shared memory, 1 rows\n",
        "plain__kernel__: device 2, 19 x 1 x 1 teams of 23 x 1 x 1 threads, 0 bytes of dynamic shared memory, 1 rows\n",
        "plain__kernel__: device 0, 1 x 1 x 1 teams of 0 x 1 x 1 threads, 0 bytes of dynamic shared memory, 1 rows\n",
        "unknown kernel: device 0, 1 x 1 x 1 teams of 1 x 1 x 1 threads, 0 bytes of dynamic shared memory, 0 rows\n",
        "data begin: device 1, 1 rows\n", "data update: device 2, 1 rows\n", "data end: device 0, 1 rows\n"};
    for (size_t i = 0; i < COUNT(lines); i++)
        if (occurrences(output, lines[i]) != (i == 0 ? 2 : 1))
            fail_msg("\"%s\" is not in:\n%s", lines[i], output);
    assert_int_equal(occurrences(output, " device "), (int)COUNT(lines) + 1);
}

int main(void)
{
    make_folder(folder);
    int result = run_all_tests();
    remove_folder(folder);
    return result;
}
