/*
 * What a launch through a queue, and a graph, costs beside the raw driver, and whether two queues overlap. For a GPU: prints a table.
 *
 * All is measured in turn, several times over, in one process; the best of each is printed, with the ratio to the raw driver's. Every way
 * to launch with arguments is then gone once more, untimed, with a kernel that adds them up: where launches or arguments got lost there is
 * no time. Launches without arguments leave nothing to be seen. With --overlap only whether two queues overlap, for `make check-gpu`; with
 * --metrics lines PEER METRIC MICROSECONDS for `make bench-gpu`, or PEER METRIC failed: REASON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rex.h>

#include "inqueue.h"

REX_KERNEL(empty);
REX_KERNEL(counting);
REX_KERNEL(nothing);
REX_KERNEL(turn);

enum { TURNS = 15, LAUNCHES = 2000, NODES = 1000, REPLAYS = 20 };

/* ---- the driver ------------------------------------------------------------------------------------------------------------------- */

static struct {
    int (*cuModuleLoad)(void **module, const char *file);
    int (*cuModuleGetFunction)(void **function, void *module, const char *name);
    int (*cuStreamCreate)(void **stream, unsigned flags);
    int (*cuStreamSynchronize)(void *stream);
    int (*cuLaunchKernel)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                          void *stream, void **parameters, void **extra);
    int (*cuStreamBeginCapture_v2)(void *stream, int mode);
    int (*cuStreamEndCapture)(void *stream, void **graph);
    int (*cuGraphInstantiateWithFlags)(void **executable, void *graph, unsigned long long flags);
    int (*cuGraphLaunch)(void *executable, void *stream);
} cu;

static void must(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "%s: %d %s\n", what, result, rex_last_error());
        exit(1);
    }
}
#define MUST(call) must((call), #call)

static void find(void *slot, const char *name)
{
    void *address = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
    if (address == NULL) {
        fprintf(stderr, "the driver has no %s\n", name);
        exit(1);
    }
    memcpy(slot, &address, sizeof address);
}
#define FIND(name) find(&cu.name, #name)

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* ---- what is measured ------------------------------------------------------------------------------------------------------------- */

static struct rex_queue *queue, *other, *fresh;
static void *stream, *module, *bare; /* the driver's */
static int64_t *x, *y, *device_x, *device_y;

/* What is launched with four arguments: the empty kernel while it is timed, then the one that counts. */
struct subject {
    const void *key;
    struct rex_graph *graph;
    void *function, *raw_graph; /* the driver's */
};
static struct subject timed = {.key = REX_KERNEL_ID(empty)}, counted = {.key = REX_KERNEL_ID(counting)}, *subject = &timed;

static double per_launch(double began, int launches)
{
    return (now() - began) / launches * 1e6;
}

static double raw_issue(void)
{
    void *function = subject->function;
    int64_t a = 1, b = 2;
    void *parameters[] = {&a, &b, &device_x, &device_y};
    MUST(cu.cuStreamSynchronize(stream));
    double began = now();
    for (int i = 0; i < LAUNCHES; i++)
        MUST(cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    double time = per_launch(began, LAUNCHES);
    MUST(cu.cuStreamSynchronize(stream));
    return time;
}

static double issue(struct rex_queue *to)
{
    int64_t a = 1, b = 2;
    struct rex_launch_config launch = rex_launch_config_of(subject->key, 1, 32);
    MUST(rex_queue_sync(to));
    double began = now();
    for (int i = 0; i < LAUNCHES; i++) {
        REX_MAP(args, REX_VALUE(a), REX_VALUE(b), REX_ALLOC(x, 100), REX_ALLOC(y, 100));
        MUST(launch_in(to, &launch, &args));
    }
    double time = per_launch(began, LAUNCHES);
    MUST(rex_queue_sync(to));
    return time;
}

static double queue_issue(void)
{
    return issue(queue);
}

static double fresh_issue(void)
{
    return issue(fresh);
}

static double raw_bare(void)
{
    MUST(cu.cuStreamSynchronize(stream));
    double began = now();
    for (int i = 0; i < LAUNCHES; i++)
        MUST(cu.cuLaunchKernel(bare, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    double time = per_launch(began, LAUNCHES);
    MUST(cu.cuStreamSynchronize(stream));
    return time;
}

static double queue_bare(void)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(nothing), 1, 32);
    MUST(rex_queue_sync(queue));
    double began = now();
    for (int i = 0; i < LAUNCHES; i++)
        MUST(launch_in(queue, &launch, NULL));
    double time = per_launch(began, LAUNCHES);
    MUST(rex_queue_sync(queue));
    return time;
}

static double raw_wait(void)
{
    void *function = subject->function;
    int64_t a = 1, b = 2;
    void *parameters[] = {&a, &b, &device_x, &device_y};
    double began = now();
    for (int i = 0; i < LAUNCHES; i++) {
        MUST(cu.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
        MUST(cu.cuStreamSynchronize(stream));
    }
    return per_launch(began, LAUNCHES);
}

static double queue_wait(void)
{
    int64_t a = 1, b = 2;
    struct rex_launch_config launch = rex_launch_config_of(subject->key, 1, 32);
    double began = now();
    for (int i = 0; i < LAUNCHES; i++) {
        REX_MAP(args, REX_VALUE(a), REX_VALUE(b), REX_ALLOC(x, 100), REX_ALLOC(y, 100));
        MUST(launch_in(queue, &launch, &args));
        MUST(rex_queue_sync(queue));
    }
    return per_launch(began, LAUNCHES);
}

static double sync_launch(void)
{
    int64_t a = 1, b = 2;
    struct rex_launch_config launch = rex_launch_config_of(subject->key, 1, 32);
    double began = now();
    for (int i = 0; i < LAUNCHES; i++) {
        REX_MAP(args, REX_VALUE(a), REX_VALUE(b), REX_ALLOC(x, 100), REX_ALLOC(y, 100));
        MUST(rex_launch(&launch, &args));
    }
    return per_launch(began, LAUNCHES);
}

static double raw_replay(void)
{
    void *raw_graph = subject->raw_graph;
    double began = now();
    for (int i = 0; i < REPLAYS; i++)
        MUST(cu.cuGraphLaunch(raw_graph, stream));
    MUST(cu.cuStreamSynchronize(stream));
    return per_launch(began, REPLAYS * NODES);
}

static double graph_replay(void)
{
    struct rex_graph *graph = subject->graph;
    double began = now();
    for (int i = 0; i < REPLAYS; i++)
        MUST(rex_graph_launch(graph, queue));
    MUST(rex_queue_sync(queue));
    return per_launch(began, REPLAYS * NODES);
}

/* To other values than the graph was recorded with, so that they can be told apart. */
static double graph_set(void)
{
    struct rex_graph *graph = subject->graph;
    int64_t a = 3, b = 4;
    double began = now();
    for (size_t i = 0; i < NODES; i++) {
        REX_MAP(args, REX_VALUE(a), REX_VALUE(b), REX_ALLOC(x, 100), REX_ALLOC(y, 100));
        MUST(rex_graph_set_args(graph, i, &args));
    }
    return per_launch(began, NODES);
}

static double address(void)
{
    double began = now();
    void *volatile sink;
    for (int i = 0; i < LAUNCHES; i++)
        sink = rex_mapped_ptr(x, -1);
    (void)sink;
    return per_launch(began, LAUNCHES);
}

static double create(void)
{
    double began = now();
    for (int i = 0; i < 50; i++) {
        struct rex_queue *made;
        MUST(rex_queue_create(&made, -1, NULL, 0));
        MUST(rex_queue_destroy(made));
    }
    return per_launch(began, 50);
}

/* What a and b of so many launches add up to. */
#define SUMS(launches, a, b) {(launches) * (a), (launches) * (b)}

static const struct {
    const char *name;
    double (*measure)(void);
    int beside; /* the row it is compared with */
    const char *metric; /* with its peer */
    int64_t sums[2]; /* what the kernel that counts makes of it; 0: nothing */
} rows[] = {
    {"cuLaunchKernel, 4 arguments", raw_issue, 0, "driver queue_issue_4", SUMS(LAUNCHES, 1, 2)},
    {"launch in a queue, 4 arguments", queue_issue, 0, "librex queue_issue_4", SUMS(LAUNCHES, 1, 2)},
    {"the same, REX_QUEUE_NO_CACHE", fresh_issue, 0, "librex queue_issue_4_fresh", SUMS(LAUNCHES, 1, 2)},
    {"cuLaunchKernel, no argument", raw_bare, 3, "driver queue_issue_0", {0}},
    {"launch in a queue, no argument", queue_bare, 3, "librex queue_issue_0", {0}},
    {"cuLaunchKernel and wait", raw_wait, 5, "driver queue_launch_and_wait", SUMS(LAUNCHES, 1, 2)},
    {"launch in a queue and wait", queue_wait, 5, "librex queue_launch_and_wait", SUMS(LAUNCHES, 1, 2)},
    {"rex_launch", sync_launch, 5, "librex launch_4", SUMS(LAUNCHES, 1, 2)},
    {"cuGraphLaunch of 1000, per node", raw_replay, 8, "driver graph_replay_1000", SUMS(REPLAYS * NODES, 1, 2)},
    {"rex_graph_launch of 1000, per node", graph_replay, 8, "librex graph_replay_1000", SUMS(REPLAYS * NODES, 1, 2)},
    {"rex_graph_set_args", graph_set, 10, "librex graph_set", SUMS(REPLAYS * NODES, 3, 4)},
    {"rex_mapped_ptr", address, 11, "librex device_address", {0}},
    {"rex_queue_create and destroy", create, 12, "librex queue_create", {0}},
};
#define ROWS (sizeof rows / sizeof *rows)

/* ---- set-up ------------------------------------------------------------------------------------------------------------------------ */

static void load_raw(void)
{
    FIND(cuModuleLoad), FIND(cuModuleGetFunction), FIND(cuStreamCreate), FIND(cuStreamSynchronize), FIND(cuLaunchKernel);
    FIND(cuStreamBeginCapture_v2), FIND(cuStreamEndCapture), FIND(cuGraphInstantiateWithFlags), FIND(cuGraphLaunch);
    MUST(cu.cuModuleLoad(&module, rex_module_image_path(&rex_this_module)));
    MUST(cu.cuModuleGetFunction(&bare, module, "nothing__kernel__"));
    MUST(cu.cuStreamCreate(&stream, 1));
}

static void capture_raw(struct subject *of)
{
    void *captured;
    int64_t a = 1, b = 2;
    void *parameters[] = {&a, &b, &device_x, &device_y};
    MUST(cu.cuStreamBeginCapture_v2(stream, 2));
    for (int i = 0; i < NODES; i++)
        MUST(cu.cuLaunchKernel(of->function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
    MUST(cu.cuStreamEndCapture(stream, &captured));
    MUST(cu.cuGraphInstantiateWithFlags(&of->raw_graph, captured, 0));
}

static void record_graph(struct subject *of, int quiet)
{
    int64_t a = 1, b = 2;
    struct rex_launch_config launch = rex_launch_config_of(of->key, 1, 32);
    double began = now();
    MUST(rex_graph_begin(queue));
    for (int i = 0; i < NODES; i++) {
        REX_MAP(args, REX_VALUE(a), REX_VALUE(b), REX_ALLOC(x, 100), REX_ALLOC(y, 100));
        MUST(launch_in(queue, &launch, &args));
    }
    double recorded = now();
    MUST(rex_graph_end(&of->graph, queue));
    if (!quiet)
        printf("graph of %d: recorded in %.2f us a launch, made in %.2f\n", NODES, 1e6 * (recorded - began) / (double)NODES,
               per_launch(recorded, NODES));
}

static void prepare(struct subject *of, const char *name, int quiet)
{
    MUST(cu.cuModuleGetFunction(&of->function, module, name));
    capture_raw(of);
    record_graph(of, quiet);
}

/* Kernels of one block each, in one queue and in two. */
static double turns_in(struct rex_queue *second, int64_t turns)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(turn), 1, 1);
    double began = now();
    for (int i = 0; i < 10; i++) {
        int64_t *cell = i % 2 == 0 ? x : y;
        REX_MAP(args, REX_VALUE(turns), REX_ALLOC(cell, 1));
        MUST(launch_in(i % 2 == 0 ? queue : second, &launch, &args));
    }
    MUST(rex_queue_sync(queue));
    MUST(rex_queue_sync(second));
    return now() - began;
}

static void show_overlap(void)
{
    double one = 1e9, two = 1e9;
    for (int i = 0; i < 5; i++) {
        double a = turns_in(queue, 1000000), b = turns_in(other, 1000000);
        one = a < one ? a : one;
        two = b < two ? b : two;
    }
    printf("10 kernels in one queue %.2f ms, in two %.2f ms: %.2f of it (%s)\n", one * 1e3, two * 1e3, two / one,
           two < 0.7 * one ? "they overlap" : "NO OVERLAP");
}

/* One row once more, with the kernel that counts: what it adds up to in x[0] and y[0]. */
static void count(size_t row, int64_t *sums)
{
    REX_MAP(to, REX_TO(x, 1), REX_TO(y, 1));
    REX_MAP(from, REX_FROM(x, 1), REX_FROM(y, 1));
    *x = *y = 0;
    MUST(rex_data_update(-1, &to));
    rows[row].measure();
    if (rows[row].measure == graph_set) /* which alone launches nothing */
        graph_replay();
    *x = *y = -1; /* no count, should the copies get lost */
    MUST(rex_data_update(-1, &from));
    sums[0] = *x;
    sums[1] = *y;
}

static void count_all(int64_t sums[][2])
{
    prepare(&counted, "counting__kernel__", 1);
    subject = &counted;
    for (size_t row = 0; row < ROWS; row++)
        if (rows[row].sums[0] != 0)
            count(row, sums[row]);
    subject = &timed;
}

static void print_row(size_t row, const double *best, const int64_t *sums, int metrics)
{
    const int64_t *expected = rows[row].sums;
    if (sums[0] != expected[0] || sums[1] != expected[1])
        printf("%s failed: the arguments of its launches add up to %lld and %lld, and not to %lld and %lld\n",
               metrics ? rows[row].metric : rows[row].name, (long long)sums[0], (long long)sums[1], (long long)expected[0],
               (long long)expected[1]);
    else if (metrics)
        printf("%s %.4f\n", rows[row].metric, best[row]);
    else
        printf("%-36s %8.3f us  %.3f\n", rows[row].name, best[row], best[row] / best[rows[row].beside]);
}

static void measure_all(int metrics)
{
    static double best[ROWS];
    static int64_t sums[ROWS][2];
    for (int i = 0; i < TURNS; i++)
        for (size_t row = 0; row < ROWS; row++) {
            double time = rows[row].measure();
            best[row] = best[row] == 0 || time < best[row] ? time : best[row];
        }
    count_all(sums);
    for (size_t row = 0; row < ROWS; row++)
        print_row(row, best, sums[row], metrics);
}

/* ---- threads ------------------------------------------------------------------------------------------------------------------------ */

static void *launch_many(void *argument)
{
    (void)argument;
    struct rex_queue *own;
    int64_t a = 1, b = 2;
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(empty), 1, 32);
    MUST(rex_queue_create(&own, -1, NULL, 0));
    for (int i = 0; i < 10 * LAUNCHES; i++) {
        REX_MAP(args, REX_VALUE(a), REX_VALUE(b), REX_ALLOC(x, 100), REX_ALLOC(y, 100));
        MUST(launch_in(own, &launch, &args));
    }
    MUST(rex_queue_destroy(own));
    return NULL;
}

static void show_threads(void)
{
    for (int count = 1; count <= 8; count *= 2) {
        pthread_t thread[8];
        double began = now();
        for (int i = 0; i < count; i++)
            MUST(pthread_create(&thread[i], NULL, launch_many, NULL));
        for (int i = 0; i < count; i++)
            MUST(pthread_join(thread[i], NULL));
        printf("%d threads, a queue each: %.2f us per launch overall\n", count, per_launch(began, 10 * LAUNCHES * count));
    }
}

/* Two queues, or, if that is all that is asked for, nothing else. */
static void measure(int overlap_alone, int metrics)
{
    if (!overlap_alone) {
        load_raw();
        prepare(&timed, "empty__kernel__", metrics);
        measure_all(metrics);
    }
    if (!metrics)
        show_overlap();
    if (!overlap_alone && !metrics)
        show_threads();
    rex_graph_destroy(timed.graph);
    rex_graph_destroy(counted.graph);
}

int main(int argc, char **argv)
{
    MUST(rex_offload_init());
    if (rex_module_on_host(&rex_this_module)) {
        puts("skip: there is no GPU");
        return 77;
    }
    x = calloc(100, sizeof *x);
    y = calloc(100, sizeof *y);
    REX_MAP(region, REX_TOFROM(x, 100), REX_TOFROM(y, 100));
    REX_DATA_REGION_MAP(NULL, -1, region) {
        MUST(rex_queue_create(&queue, -1, "one", 0));
        MUST(rex_queue_create(&other, -1, "two", 0));
        MUST(rex_queue_create(&fresh, -1, "fresh", REX_QUEUE_NO_CACHE));
        device_x = rex_mapped_ptr(x, -1);
        device_y = rex_mapped_ptr(y, -1);
        measure(argc > 1 && strcmp(argv[1], "--overlap") == 0, argc > 1 && strcmp(argv[1], "--metrics") == 0);
        MUST(rex_queue_destroy(fresh));
        MUST(rex_queue_destroy(other));
        MUST(rex_queue_destroy(queue));
    }
    free(x);
    free(y);
    return 0;
}
