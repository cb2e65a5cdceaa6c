/*
 * log.c - where lines go: a file, a function of the program; what they leave alone: errno, the last error; rows in words.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <errno.h>
#include <pthread.h>

#include "rex/entry.h"
#include "rex/launch.h"
#include "rex/map.h"
#include "rex_kmp.h"

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

/* In a child: the whole file of that name has to be TEXT. */
static void expect_file(const char *name, const char *text)
{
    size_t size;
    char *found = (char *)read_bytes(in_folder(name), &size);
    if (size == strlen(text) && memcmp(found, text, size) == 0) {
        free(found);
        return;
    }
    fprintf(stderr, "%s is \"%.*s\", and not \"%s\"", name, (int)size, found, text);
    _exit(99);
}

/* An error whose message ends in TEXT, which has to be none of REX_WAIT's values. */
static void say(const char *text)
{
    CHECK_EQUAL(rex_configure(REX_OPTION_WAIT, text), REX_EINVAL);
}

#define LINE_BEGIN "librex: error: rex_configure: REX_WAIT cannot be \""
#define LINE_END "\", only auto, spin, yield, block or runtime [REX_EINVAL]\n"
#define LINE(text) LINE_BEGIN text LINE_END

/* ---- a file ------------------------------------------------------------------------------------------------------ */

static void to_a_file(const void *context)
{
    char value[3 * PATH_MAX];
    (void)context;
    configure("info:plain");
    say("to the file");
    configure("off:plain");
    say("nowhere");
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), 0);
    say("to standard error");
    configure(":plain"); /* warn */
    say("behind it");
    configure("debug:100%% of %p");
    say("by number");
    snprintf(value, sizeof value, "debug:%s", in_folder("environment"));
    setenv("REX_LOG", value, 1);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, NULL), 0);
    say("in it");
    configure("info:missing/file");
    say("one line");
    say("another");
    expect_file("plain", LINE("to the file") LINE("behind it"));
    expect_file("environment", LINE("in it"));
    snprintf(value, sizeof value, "100%% of %ld", (long)getpid());
    expect_file(value, LINE("by number"));
}

TEST(test_files)
{
    char expected[3 * PATH_MAX];
    snprintf(expected, sizeof expected,
             LINE("to standard error") "librex: warning: the log %s cannot be opened: No such file or directory; standard error is used\n"
             LINE("one line") LINE("another"), in_folder("missing/file"));
    assert_string_equal(in_child(to_a_file, NULL), expected);
}

/*
 * Each process has a file of its own where the name says so. A file is opened once: librex writes to it where it has been moved, and its old
 * name stays free, in a child of fork too.
 */
TEST_OF_EACH(forks, bool, numbered, false, true)
{
    int status;
    char own[64], childs[64], moved[2 * PATH_MAX];
    configure(numbered ? "info:of %p" : "info:of");
    say("before");
    snprintf(own, sizeof own, numbered ? "of %ld" : "of", (long)getpid());
    snprintf(moved, sizeof moved, "%s", in_folder("moved"));
    CHECK_EQUAL(rename(in_folder(own), moved), 0);
    say("after");
    pid_t child = fork();
    if (child == 0) {
        say("in a child");
        _exit(0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(access(in_folder(own), F_OK) != 0);
    expect_file("moved", numbered ? LINE("before") LINE("after") : LINE("before") LINE("after") LINE("in a child"));
    snprintf(childs, sizeof childs, "of %ld", (long)child);
    if (numbered)
        expect_file(childs, LINE("in a child"));
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 8, LINES = 500, WIDTH = 150 };

/* Of one letter, and in turn with another behind it: an error that is repeated is not printed. */
static void *many_lines(void *number)
{
    char letters[WIDTH + 2] = "";
    memset(letters, 'a' + *(int *)number, WIDTH);
    for (int i = 0; i < LINES; i++) {
        letters[WIDTH] = i % 2 == 0 ? '0' : '1';
        say(letters);
    }
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
    char line[512], expected[512];
    in_child(lines_of_threads, NULL);
    FILE *file = fopen(in_folder("threads"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        char letters[WIDTH + 1] = "";
        int number = line[strlen(LINE_BEGIN)] - 'a';
        assert_in_range(number, 0, THREADS - 1);
        memset(letters, 'a' + number, WIDTH);
        snprintf(expected, sizeof expected, LINE("%s%d"), letters, counts[number]++ % 2);
        assert_string_equal(line, expected);
    }
    fclose(file);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(counts[i], LINES);
}

/* ---- a function of the program ----------------------------------------------------------------------------------- */

static struct {
    int calls;
    enum rex_log_level level;
    char message[256], all[4096]; /* the last one, and all but rows of calls */
} got;

/* Calls librex, which fails, takes what locks there are, and leaves another errno. */
static void receive(enum rex_log_level level, const char *message, void *context)
{
    CHECK(context == &got);
    got.calls++;
    got.level = level;
    snprintf(got.message, sizeof got.message, "%s", message);
    snprintf(got.all + strlen(got.all), sizeof got.all - strlen(got.all), "%d %s\n", (int)level, message);
    CHECK_EQUAL(rex_configure((enum rex_option)99, "x"), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "no option 99");
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
    CHECK_EQUAL(rex_host_free(rex_host_alloc(8)), REX_OK);
    CHECK_EQUAL(rex_runtime_bind(), REX_OK);
    errno = EDOM;
}

REX_KERNEL(plain);
static struct __tgt_offload_entry entry[] = {{&plain__id__, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entry,
                                   .entries_end = entry + 1,
                                   .image_name = "tests/data/sm_90.cubin"};

static void start_at(const char *level)
{
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, level), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
}

/* What librex has to say under its locks comes when the last one is free, in order; neither errno nor the last error change. */
static void callback(const void *context)
{
    (void)context;
    start_at("warn");
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_WAIT, "spin"), REX_OK);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "info"), REX_OK);
    rex_set_log_callback(receive, &got);
    errno = EISDIR;
    say("first");
    CHECK_EQUAL(errno, EISDIR);
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL);
    CHECK_MENTIONS(rex_last_error(), "REX_WAIT cannot be \"first\"");
    CHECK(got.calls == 1 && got.level == REX_LOG_ERROR);
    CHECK_EQUAL(rex_module_register(&module, NULL), REX_OK);
    CHECK_MENTIONS(rex_last_error(), "REX_WAIT cannot be \"first\"");
    CHECK_EQUAL(rex_module_fini(&module), REX_OK);
    CHECK_MENTIONS(got.all, "\n3 GPU 0: context activated with flags 0x1\n3 registered tests/data/sm_90.cubin for 1 offload entries\n");
    rex_set_log_callback(NULL, NULL);
    say("to standard error");
}

TEST(test_callback)
{
    const char *output = in_child(callback, NULL);
    assert_int_equal(occurrences(output, LINE("to standard error")), 1);
    /* What librex said to the function itself. */
    assert_true(occurrences(output, "no option 99") > 0);
    assert_int_equal(occurrences(output, "first"), 0);
    assert_int_equal(occurrences(output, "context activated"), 0);
}

/* ---- what others named ------------------------------------------------------------------------------------------- */

static const char forging[] = "a\nlibrex: forged \x1b[2Jb\x7f\xc2\x9b" "c\xff \xc3\xa4\xe2\x82\xac\\";
static const char harmless[] = "a\\x0alibrex: forged \\x1b[2Jb\\x7f\\xc2\\x9bc\\xff \xc3\xa4\xe2\x82\xac\\";

static void named_by_others(const void *context)
{
    (void)context;
    use_release(22);
    say(forging);
    CHECK_MENTIONS(rex_last_error(), harmless);
    say(rex_last_error()); /* once is enough */
    CHECK_MENTIONS(rex_last_error(), harmless);
    rex_set_log_callback(receive, &got);
    say(forging);
    CHECK_MENTIONS(got.message, harmless);
}

TEST(test_escapes)
{
    const char *output = in_child(named_by_others, NULL);
    assert_int_equal(occurrences(output, harmless), 2);
    assert_int_equal(occurrences(output, "\nlibrex: forged"), 0);
    assert_int_equal(occurrences(output, "\x1b"), 0);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static char mapped[4000];

static const struct {
    int64_t type;
    const char *text;
} cases[] = {
    {0, "alloc"}, {0x21, "to|target_param"}, {0x3, "to|from"}, {0x100000000001, "to|non_contig"},
    {0x1000000000018, "delete|ptr_and_obj|member_of(1)"}, {0x1000 | 0x2000 | 0x200 | 0x4, "always|implicit|present|ompx_hold"},
    {0x8c0, "return_param|private|0x800"}, {0x4400, "close|attach"},
};

static void rows_in_words(const void *context)
{
    void *base[] = {mapped, mapped + 8, (void *)42, (void *)43, mapped}, *begin[] = {mapped, mapped, (void *)44, (void *)45, mapped};
    int64_t sizes[] = {4000, 16, 8, 4, 1}, types[] = {0x21, 0x2000000000003, 0x120, 0x120, 0};
    void *names[] = {(char[]){";x[0:1000];main.c;12;3;;"}, (char[]){"y"}, NULL, (char[]){";n;main.c"}, NULL};
    void *mappers[] = {NULL, mapped, NULL, mapped, mapped};
    struct __tgt_kernel_arguments packet = {.Version = 3,
                                            .NumArgs = 5,
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
    start_at("debug");
    fputs("--\n", stderr);
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, -1, 4, 256, &plain__id__, &packet), 0);
    __rex_real___tgt_target_data_begin(2, 5, base, begin, sizes, types);
    for (size_t i = 0; i < COUNT(cases); i++) {
        types[0] = cases[i].type;
        sizes[0] = 8;
        __rex_real___tgt_target_data_end(0, 1, base, begin, sizes, types);
    }
}

TEST(test_rows)
{
    char expected[4096];
    const char *output = strstr(in_child(rows_in_words, NULL), "--\n");
    snprintf(expected, sizeof expected,
             "--\n"
             "librex: debug: plain__kernel__: device -1, 4 x 3 x 2 teams of 256 x 5 x 7 threads, 64 bytes of dynamic shared memory, 5 rows\n"
             "librex: debug: plain__kernel__: row 0: to|target_param x[0:1000] 4000 bytes\n"
             "librex: debug: plain__kernel__: row 1: to|from|member_of(2) y 16 bytes, base %p, through a mapper\n"
             "librex: debug: plain__kernel__: row 2: target_param|literal 0x2c = 0x2a, 8 bytes\n"
             "librex: debug: plain__kernel__: row 3: target_param|literal n = 0x2b, 4 bytes\n"
             "librex: debug: plain__kernel__: row 4: alloc %p 1 bytes, through a mapper\n"
             "librex: debug: data begin: device 2, 5 rows\n"
             "librex: debug: data begin: row 0: to|target_param %p 4000 bytes\n"
             "librex: debug: data begin: row 1: to|from|member_of(2) %p 16 bytes, base %p\n"
             "librex: debug: data begin: row 2: target_param|literal 0x2a, 8 bytes\n"
             "librex: debug: data begin: row 3: target_param|literal 0x2b, 4 bytes\n"
             "librex: debug: data begin: row 4: alloc %p 1 bytes\n",
             (void *)(mapped + 8), (void *)mapped, (void *)mapped, (void *)mapped, (void *)(mapped + 8), (void *)mapped);
    for (size_t i = 0; i < COUNT(cases); i++)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected),
                 "librex: debug: data end: device 0, 1 rows\nlibrex: debug: data end: row 0: %s %p 8 bytes\n", cases[i].text, (void *)mapped);
    assert_string_equal(output, expected);
}

/* ---- no memory --------------------------------------------------------------------------------------------------- */

/* rules.mk leads calls of malloc() and calloc() here. A COUNT of calls succeed, and the next one fails. */
static bool memory_is_out;
static int fails_after = -1;

static bool is_to_fail(void)
{
    return memory_is_out || (fails_after >= 0 && fails_after-- == 0);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return is_to_fail() ? NULL : __real_malloc(size);
}
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return is_to_fail() ? NULL : __real_calloc(count, size);
}

/* An allocation fails that makes room for a thread's error: of the list of parts first, of the error's own part then. */
static void *no_room_in_thread(void *count)
{
    CHECK(rex_last_error_code() == REX_OK && strcmp(rex_last_error(), "") == 0);
    fails_after = *(int *)count;
    errno = EINTR;
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_ENOMEM);
    CHECK(errno == EINTR && fails_after == -1);
    CHECK_EQUAL(rex_last_error_code(), REX_ENOMEM);
    CHECK(strcmp(rex_last_error(), "out of memory, also for the message") == 0);
    CHECK_EQUAL(rex_module_register(NULL, NULL), REX_EINVAL);
    CHECK_EQUAL(rex_last_error_code(), REX_EINVAL);
    CHECK(strcmp(rex_last_error(), "rex_module_register: the module is NULL") == 0);
    return NULL;
}

TEST_OF_EACH(no_room, int, count, 0, 1)
{
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, no_room_in_thread, &count), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

/* ---- each call once ---------------------------------------------------------------------------------------------- */

static double x[50];

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
    CHECK_EQUAL(rex_module_fini(&module), 0); /* it is inside of no call */
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
