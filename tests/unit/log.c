/*
 * log.c - whole lines, in each process its own file; names of others that would forge lines; launches and data calls with their rows, each once:
 * tests/golden/messages/configure.txt. Where the log goes: script/settings. A function of the program that gets the lines: tests/runtime/log.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "bound.h"

#include <pthread.h>

#include "rex/entry.h"
#include "rex/launch.h"
#include "rex/map.h"
#include "rex_kmp.h"
#include "support/messages.h"

MESSAGES("configure");

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
}

TEST(test_escapes)
{
    const char *output = in_child(named_by_others, NULL);
    assert_int_equal(occurrences(output, harmless), 2);
    assert_int_equal(occurrences(output, "\nlibrex: forged"), 0);
    assert_int_equal(occurrences(output, "\x1b"), 0);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

REX_KERNEL(plain);
static struct __tgt_offload_entry entry[] = {{&plain__id__, (char *)(uintptr_t)"plain__kernel__", 0, 0, 0}};
static struct rex_module module = {.struct_size = sizeof(struct rex_module),
                                   .entries_begin = entry,
                                   .entries_end = entry + 1,
                                   .image_name = "tests/data/sm_90.cubin"};

static char mapped[4000];

static void note(enum rex_log_level level, const char *message, void *context)
{
    (void)context;
    says("%d %s", (int)level, message);
}

/* The program's own calls, with every kind of row. */
static void call_libomptarget(void)
{
    void *base[] = {mapped, mapped + 8, (void *)42, (void *)43, mapped}, *begin[] = {mapped, mapped, (void *)44, (void *)45, mapped};
    int64_t sizes[] = {4000, 16, 8, 4, 1}, types[] = {0x21, 0x2000000000003, 0x120, 0x120, 0};
    void *names[] = {(char[]){";x[0:1000];main.c;12;3;;"}, (char[]){"y"}, NULL, (char[]){";n;main.c"}, NULL};
    void *mappers[] = {NULL, mapped, NULL, mapped, mapped};
    static const int64_t in_words[] = {0,      0x21,  0x3,    0x100000000001, 0x1000000000018, 0x1000 | 0x2000 | 0x200 | 0x4,
                                       0x8c0, 0x4400};
    static char unknown;
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
    CHECK_EQUAL(__rex_real___tgt_target_kernel(NULL, -1, 4, 256, &plain__id__, &packet), 0);
    the_record()->result = 4;
    CHECK_EQUAL(__rex_real___tgt_target_teams(2, &plain__id__, 1, base, begin, sizes, types, 19, 23), 4);
    CHECK_EQUAL(__rex_real___tgt_target(0, &plain__id__, 1, base, begin, sizes, types), 4);
    the_record()->result = 0;
    CHECK_EQUAL(__rex_real___tgt_target_teams(0, &unknown, 0, NULL, NULL, NULL, NULL, 1, 1), 0);
    __rex_real___tgt_target_data_begin(2, 5, base, begin, sizes, types);
    __rex_real___tgt_target_data_update(1, 1, base, begin, sizes, types);
    for (size_t i = 0; i < COUNT(in_words); i++)
        __rex_real___tgt_target_data_end(0, 1, base, begin, sizes, (int64_t[]){in_words[i]});
    __rex_real___tgt_target_data_end(0, 0, NULL, NULL, NULL, NULL); /* is not logged */
}

/* Those of librex hide none of the program's. */
static void call_librex(void)
{
    struct rex_launch_config launch = rex_launch_config_of(&plain__id__, 4, 32);
    int64_t a = 1, b = 2;
    REX_MAP(region, REX_TO(mapped, 50));
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b));
    the_record()->mappings[0] = (struct fake_mapping){(uintptr_t)mapped, sizeof mapped, 0x10000000};
    CHECK_EQUAL(rex_module_launch_map(&module, &launch, &args), 0);
    CHECK_EQUAL(rex_module_check_map(&module, 0, REX_MAP_ARGUMENTS(region)), 0);
    __rex_real___tgt_target_data_begin(0, REX_MAP_ARGUMENTS(region));
    CHECK_EQUAL(rex_module_data_update(&module, 0, &region), 0);
    CHECK_EQUAL(rex_module_data_exit(&module, 0, &region), 0);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "warn"), 0);
    __rex_real___tgt_target_data_begin(0, REX_MAP_ARGUMENTS(region));
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), 0);
    __rex_real___tgt_target_data_end(0, REX_MAP_ARGUMENTS(region));
}

static void make_calls(const void *calls)
{
    setenv("FAKE_DEVICES", "3", 1);
    setenv("REX_LAUNCH_BY", "runtime", 1);
    use_gpu(90);
    use_release(22);
    CHECK_EQUAL(rex_configure(REX_OPTION_LOG, "debug"), 0);
    CHECK_EQUAL(rex_module_register(&module, NULL), 0);
    rex_set_log_callback(note, NULL);
    (*(void (*const *)(void))calls)();
}

TEST(test_calls)
{
    static void (*const calls[])(void) = {call_libomptarget, call_librex};
    for (size_t i = 0; i < COUNT(calls); i++)
        in_child(make_calls, &calls[i]);
}

int main(void)
{
    make_folder(folder);
    int result = run_all_tests();
    remove_folder(folder);
    return result;
}
