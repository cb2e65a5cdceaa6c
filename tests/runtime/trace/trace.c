/*
 * REX_TRACE: what is in the timeline, and nothing more; threads, queues, children of fork, processes that share a file's name; processes
 * that are killed; files that cannot be written; memory.
 *
 * Each test runs programs, which are below, and has what they leave checked by tests/trace/check.py.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <pthread.h>
#include <stdbool.h>
#include <signal.h>
#include <sys/stat.h>

#include "runtime/runtime.h"

REX_KERNEL(scale);
REX_KERNEL(add_one);

/* IN_QUEUE: more than are kept until the queue is waited for. */
enum { VALUES = 1000, THREADS = 8, LAUNCHES = 40, AT_EXIT = 5, SHOWN = 3, IN_QUEUE = 1500 };

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        if ((call) != 0) {                                                                                             \
            fprintf(stderr, "line %d: %s failed: %s\n", __LINE__, #call, rex_last_error());                            \
            _exit(99);                                                                                                 \
        }                                                                                                              \
    } while (0)

static int64_t x[VALUES], y[VALUES];

/* ---- programs ---------------------------------------------------------------------------------------------------------------------- */

static void add_one(int64_t *value)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(add_one), 1, 32);
    REX_MAP(args, REX_TOFROM(value, 1));
    OK(rex_launch(&launch, &args));
}

static void launches(void)
{
    int64_t n = VALUES;
    struct rows rows = {0};
    add_literal(&rows, &n, sizeof n);
    add_row(&rows, x, sizeof x, PARAMETER | TO);
    add_row(&rows, y, sizeof y, PARAMETER | FROM);
    struct __tgt_kernel_arguments packet = packet_of(&rows, 4, 64);
    for (int i = 0; i < 3; i++)
        OK(__tgt_target_kernel(-1, 4, 64, REX_KERNEL_ID(scale), &packet));
    /* By libomptarget's older names, which call each other inside it; the host device of 23 and 24 takes new packets alone. */
    for (int i = 0; i < 2 && !calls_with_array(); i++)
        OK(__rex_real___tgt_target_teams(-1, REX_KERNEL_ID(scale), rows.count, rows.value, rows.value, rows.size, rows.type, 4, 64));
    add_one(y);
}

static void data(void)
{
    REX_MAP(region, REX_TO(x, VALUES), REX_ALLOC(y, VALUES));
    OK(rex_data_enter(-1, &region));
    REX_MAP(both, REX_TO(x, VALUES), REX_FROM(y, VALUES));
    OK(rex_data_update(-1, &both));
    OK(rex_module_region_end(&rex_this_module, -1, &region));
    REX_MAP(entered, REX_ALLOC(y, VALUES));
    OK(rex_data_enter(-1, &entered));
    REX_MAP(left, REX_FROM(y, VALUES));
    OK(rex_data_exit(-1, &left));
    void *address[] = {y};
    int64_t size[] = {sizeof y}, type[] = {TOFROM}, to[] = {TO};
    __tgt_target_data_begin(-1, 1, address, address, size, type);
    __tgt_target_data_update(-1, 1, address, address, size, to);
    __tgt_target_data_end(-1, 1, address, address, size, type);
    void *device = rex_device_alloc(800, -1);
    OK(device == NULL);
    OK(rex_device_copy_to(device, x, 800, -1));
    OK(rex_device_copy_from(y, device, 800, -1));
    rex_device_free(device, -1);
}

static void calls(void)
{
    OK(rex_offload_init());
    launches();
    data();
    OK(rex_offload_fini());
}

static void *work(void *value)
{
    for (int i = 0; i < LAUNCHES; i++)
        add_one(value);
    return NULL;
}

static void threads(void)
{
    static char no_kernel;
    pthread_t thread[THREADS];
    static int64_t value[THREADS][8]; /* apart from each other */
    struct rex_launch_config refused = rex_launch_config_of(&no_kernel, 1, 32);
    OK(rex_offload_init());
    OK(rex_launch(&refused, NULL) != REX_EKEY); /* is in no trace */
    for (int i = 0; i < THREADS; i++)
        OK(pthread_create(&thread[i], NULL, work, value[i]));
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_join(thread[i], NULL));
        OK(value[i][0] != LAUNCHES);
    }
}

static void called(void *argument)
{
    *(int *)argument += 1;
}

static void queue(void)
{
    struct rex_queue *queue = NULL;
    int64_t n = VALUES;
    int calls_seen = 0;
    OK(rex_queue_create(&queue, -1, "left \"one\"", 0));
    REX_MAP(region, REX_ALLOC(x, VALUES), REX_ALLOC(y, VALUES));
    OK(rex_data_enter(-1, &region));
    REX_MAP(to, REX_TO(x, VALUES));
    OK(rex_queue_update(queue, &to));
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(scale), 4, 64);
    REX_MAP(args, REX_VALUE(n), REX_TO(x, VALUES), REX_FROM(y, VALUES));
    for (int i = 0; i < IN_QUEUE; i++)
        OK(launch_in(queue, &launch, &args));
    struct rex_graph *graph = NULL;
    OK(rex_graph_begin(queue));
    for (int i = 0; i < 3; i++)
        OK(launch_in(queue, &launch, &args));
    OK(rex_graph_end(&graph, queue));
    OK(rex_graph_launch(graph, queue));
    OK(rex_queue_host_func(queue, called, &calls_seen));
    REX_MAP(from, REX_FROM(y, VALUES));
    OK(rex_queue_update(queue, &from));
    OK(rex_queue_sync(queue));
    rex_graph_destroy(graph);
    OK(rex_queue_destroy(queue));
    OK(rex_module_region_end(&rex_this_module, -1, &region));
    OK(calls_seen != 1);
    OK(rex_offload_fini());
}

/* Waited for, deferred, deferred on memory whose device address the program has, and deferred until the process exits. */
static void deferred(void)
{
    OK(rex_offload_init());
    REX_MAP(region, REX_TO(x, VALUES), REX_TO(y, VALUES));
    OK(rex_data_enter(-1, &region));
    work(y);
    OK(rex_configure(REX_OPTION_LAUNCH_BLOCKING, "0"));
    work(y);
    REX_MAP(from, REX_FROM(y, VALUES));
    OK(rex_data_update(-1, &from));
    OK(y[0] != 2 * LAUNCHES);
    OK(rex_mapped_ptr(x, -1) == NULL);
    for (int i = 0; i < SHOWN; i++)
        add_one(x);
    for (int i = 0; i < AT_EXIT; i++)
        add_one(y);
}

/* Launches until the file is long enough for several writes. */
static void fill(void)
{
    struct stat status = {0};
    OK(rex_offload_init());
    while (status.st_size < 200000) {
        add_one(y);
        OK(stat(getenv("REX_TRACE"), &status));
    }
}

static void killed(void)
{
    fill();
    raise(SIGKILL);
}

/* The libomp of LLVM 16 and 17 does not survive exit() in a child of fork, nor does what LLVM 14's loads for ThreadSanitizer. */
static bool child_exits(int release)
{
    return release != 16 && release != 17 && !SANITIZED;
}

static void end_child(void)
{
    if (child_exits(rex_runtime_release()))
        exit(0);
    _exit(0);
}

static void forked(void)
{
    int status = -1;
    OK(rex_offload_init());
    add_one(y);
    pid_t child = fork();
    if (child == 0) {
        add_one(y);
        add_one(y);
        end_child();
    }
    OK(waitpid(child, &status, 0) != child || status != 0);
    printf("%ld\n", (long)child);
    fflush(stdout);
    child = fork();
    if (child == 0)
        end_child(); /* has no file */
    OK(waitpid(child, &status, 0) != child || status != 0);
    printf("%ld\n", (long)child);
    add_one(y);
}

/* Its child has the same REX_TRACE, and the file is in use. */
static void twice(void)
{
    OK(rex_offload_init());
    add_one(y);
    fflush(stdout);
    OK(run_self("program-calls-and-number"));
    add_one(y);
}

static void calls_and_number(void)
{
    printf("%ld\n", (long)getpid());
    calls();
}

static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    OK(file == NULL || fscanf(file, "%*s %ld", &pages) != 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Prints what 100 000 launches added to the memory of the process, in bytes. */
static void memory(void)
{
    OK(rex_offload_init());
    for (int i = 0; i < 1000; i++)
        add_one(y);
    long before = resident();
    for (int i = 0; i < rounds_of(100000); i++)
        add_one(y);
    printf("%ld\n", resident() - before);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"calls", calls},   {"threads", threads}, {"queue", queue}, {"deferred", deferred}, {"killed", killed},
    {"forked", forked},   {"twice", twice}, {"calls-and-number", calls_and_number},
    {"memory", memory},
};

static int run_program(const char *name)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i].name, name) == 0) {
            programs[i].run();
            return 0;
        }
    return 98;
}

/* ---- running and checking them ------------------------------------------------------------------------------------------------------- */

static char said[65536], printed[4096]; /* standard error and output of the last program */

static void read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

/* Runs a program with REX_TRACE; its status as system() gives it. */
static int run(const char *trace, const char *program)
{
    char command[4 * PATH_MAX];
    struct path errors = temporary_file("errors"), output = temporary_file("output");
    snprintf(command, sizeof command, "REX_TRACE='%s' exec '%s' program-%s 2>'%s' >'%s'", trace, own_path(),
             program, errors.text, output.text);
    int status = system(command);
    read_text(errors.text, said, sizeof said);
    read_text(output.text, printed, sizeof printed);
    fprintf(stderr, "%s%s", said, printed);
    return status;
}

static void check(const char *path, const char *expected)
{
    char command[4 * PATH_MAX];
    snprintf(command, sizeof command, "python3 '%s' '%s' %s", CHECKER, path, expected);
    if (system(command) != 0)
        fail_msg("%s", command);
}

static void assert_said(const char *words)
{
    if (strstr(said, words) == NULL)
        fail_msg("no \"%s\" on standard error", words);
}

#define PHASES "'phase/bind libomptarget=1' 'phase/open image=1' phase/register=1 phase/__tgt_register_lib=1 'phase/load image=1' "
#define CALLS                                                                                                          \
    "--tracks 1 launch/scale__kernel__=%d:%d,%d launch/add_one__kernel__=1:8,8 'data/data begin=1:8000,0' 'data/data enter=2:8000,0' " \
    "'data/data end=2:0,8000' 'data/data exit=1:0,8000' 'data/data update=2:16000,8000' 'data/copy to device=1:800,0' " \
    "'data/copy from device=1:0,800' phase/__tgt_unregister_lib=%d "

/* On a GPU its context is activated. */
static const char *phases(void)
{
    return gpu_present() ? PHASES "'phase/activate contexts=1'" : PHASES;
}

static void check_calls(const char *path)
{
    char expected[2048];
    int launches_of_scale = calls_with_array() ? 3 : 5, bytes = launches_of_scale * 8000;
    snprintf(expected, sizeof expected, CALLS "%s", launches_of_scale, bytes, bytes, loads_late(), phases());
    check(path, expected);
}

/* ---- what is in it ------------------------------------------------------------------------------------------------------------------- */

TEST(every_call_once)
{
    struct path trace = temporary_file("trace.json");
    setenv("REX_LOG", "error", 1); /* else it says where there is no GPU for its GPU image */
    assert_int_equal(run(trace.text, "calls"), 0);
    unsetenv("REX_LOG");
    assert_string_equal(said, "");
    assert_string_equal(printed, "");
    check_calls(trace.text);
    /* Again: the file is made anew. */
    assert_int_equal(run(trace.text, "calls"), 0);
    check_calls(trace.text);
}

TEST(tracks_of_threads)
{
    struct path trace = temporary_file("trace.json");
    assert_int_equal(run(trace.text, "threads"), 0);
    check(trace.text, "--tracks 9 launch/add_one__kernel__=320:2560,2560 data/any=0 device/add_one__kernel__=320");
}

/* On a GPU a graph is one thing; where everything is done at once, its launches are. */
TEST(tracks_of_queues)
{
    struct path trace = temporary_file("trace.json");
    assert_int_equal(run(trace.text, "queue"), 0);
    check(trace.text, gpu_present()
                          ? "launch/scale__kernel__=1500:0,0 'launch/graph of 3 launches=1' 'data/queue copy to device=1:8000,0' "
                            "'data/queue copy from device=1:0,8000' 'data/data enter=1:0,0' 'data/data end=1:0,0'"
                          : "launch/scale__kernel__=1503:0,0 'data/queue copy to device=1:8000,0' 'data/queue copy from device=1:0,8000' "
                            "'data/data enter=1:0,0' 'data/data end=1:0,0' 'queue/queue launch=1503' 'queue/queue call=2' "
                            "'queue/queue copy to device=1' 'queue/queue copy from device=1'");
}

/* Each kernel counts once, and the call of a deferred one is no kernel. */
TEST(deferred_launches)
{
    struct path trace = temporary_file("trace.json");
    assert_int_equal(run(trace.text, "deferred"), 0);
    check(trace.text, gpu_present() ? "--tracks 1 launch/add_one__kernel__=88:320,320 'launch/deferred launch=48'"
                                    : "--tracks 1 launch/add_one__kernel__=88:704,704");
    assert_int_equal(run("-", "deferred"), 0);
    assert_said("add_one__kernel__                               88 ");
    if (gpu_present())
        assert_said("launches that returned before their kernels were done: 45 of 88\n");
    else
        assert_null(strstr(said, "before their kernels were done"));
}

/* ---- processes ----------------------------------------------------------------------------------------------------------------------- */

TEST(after_a_crash)
{
    struct path trace = temporary_file("trace.json");
    assert_int_not_equal(run(trace.text, "killed"), 0);
    check(trace.text, "--cut --tracks 1 launch/add_one__kernel__=+");
}

/* The file that process NUMBER writes where another has the one of the name given. */
static const char *of_process(const struct path *trace, long number)
{
    static char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s.%ld", trace->text, number);
    return path;
}

/* A child of fork has no GPU. */
TEST(child_of_fork, .gpu = ON_HOST_DEVICE)
{
    struct path trace = temporary_file("trace.json");
    char *end;
    assert_int_equal(run(trace.text, "forked"), 0);
    check(trace.text, "--tracks 1 launch/add_one__kernel__=2");
    const char *release = getenv("REX_TEST_RELEASE"), *own = of_process(&trace, strtol(printed, &end, 10));
    check(own, child_exits(release != NULL ? atoi(release) : 0) ? "--tracks 1 launch/add_one__kernel__=2" : "--cut");
    assert_int_not_equal(access(of_process(&trace, strtol(end, NULL, 10)), F_OK), 0);
    /* The summary of a child has its own launches, too. */
    assert_int_equal(run("-", "forked"), 0);
    assert_said("add_one__kernel__                                2 ");
    assert_null(strstr(said, "add_one__kernel__                                3 "));
}

TEST(two_processes)
{
    struct path trace = temporary_file("trace.json"), numbered = temporary_file("%p%%.json");
    assert_int_equal(run(trace.text, "twice"), 0);
    check(trace.text, "--tracks 1 launch/add_one__kernel__=2");
    check_calls(of_process(&trace, strtol(printed, NULL, 10)));
    assert_int_equal(run(numbered.text, "calls-and-number"), 0);
    char name[64];
    snprintf(name, sizeof name, "%ld%%.json", strtol(printed, NULL, 10));
    check_calls(temporary_file(name).text);
}

/* ---- files that cannot be written ---------------------------------------------------------------------------------------------------- */

TEST(full_and_unwritable)
{
    struct path folder = temporary_file("folder");
    assert_int_equal(run("/dev/full", "calls"), 0);
    assert_said("REX_TRACE: /dev/full cannot be written: No space left on device; the program continues without a trace");
    assert_int_equal(run("/nowhere/at/all.json", "calls"), 0);
    assert_said("REX_TRACE: /nowhere/at/all.json cannot be written: No such file or directory");
    assert_int_equal(mkdir(folder.text, 0700), 0);
    assert_int_equal(run(folder.text, "calls"), 0);
    assert_said("Is a directory");
}

TEST(bounded_memory)
{
    static const char *const traces[] = {"/dev/null", "-"};
    if (release_of_test() == 24 && !gpu_present())
        leave_out("bounded memory: libomptarget 24 itself keeps something of each launch, and looks through all of it");
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        assert_int_equal(run(traces[i], "memory"), 0);
        char *end;
        long grown = strtol(printed, &end, 10);
        assert_true(end > printed);
        /* What is written comes to 80 MB. A sanitizer's own memory is not ours, and a driver may give back some of its own meanwhile. */
        if (!SANITIZED)
            assert_true((gpu_present() || grown >= 0) && grown < 4000000);
    }
}

/* ---- the summary --------------------------------------------------------------------------------------------------------------------- */

int before_tests(int argc, char **argv)
{
    if (argc > 1 && strncmp(argv[1], "program-", 8) == 0)
        return run_program(argv[1] + 8);
    if (system("python3 -c '' 2>/dev/null") != 0) {
        puts("skip: no python3");
        return 77;
    }
    return -1;
}
