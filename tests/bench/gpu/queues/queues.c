/*
 * What a launch through a queue, as a graph of one with other arguments, or deferred, and a large
 * graph cost beside the raw driver, for `make bench-gpu`: lines PEER METRIC MICROSECONDS, or PEER METRIC
 * failed: REASON. For a GPU.
 *
 * All is measured in turn, several times over, in one process; the best of each is printed. Every
 * way is then gone once more, untimed, with a kernel that adds up its arguments: where launches or
 * arguments got lost there is no time.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdbool.h>

#include <rex.h>

#include "bench/gpu/plaindriver.h"
#include "inqueue.h"

REX_KERNEL(empty);
REX_KERNEL(counting);

enum { TURNS = 15, LAUNCHES = 2000, NODES = 1000, REPLAYS = 20 };

/* ---- the driver ------------------------------------------------------------------------------ */

static struct {
    int (*cuModuleLoad)(void **module, const char *file);
    int (*cuModuleGetFunction)(void **function, void *module, const char *name);
    int (*cuStreamCreate)(void **stream, unsigned flags);
    int (*cuStreamSynchronize)(void *stream);
    int (*cuLaunchKernel)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void *stream,
                          void **parameters, void **extra);
    int (*cuStreamBeginCapture_v2)(void *stream, int mode);
    int (*cuStreamEndCapture)(void *stream, void **graph);
    int (*cuGraphInstantiateWithFlags)(void **executable, void *graph, unsigned long long flags);
    int (*cuGraphLaunch)(void *executable, void *stream);
} cu;

/* ---- what is measured ------------------------------------------------------------------------ */

static struct rex_queue *queue;
static void *stream, *module; /* the driver's */

/* The driver gets the device addresses of these. Launches on them would not be deferred. */
static int64_t raw_x[100], raw_y[100], *device_x, *device_y;
static int64_t x[100], y[100]; /* librex's */

/* What is launched: the empty kernel while it is timed, then the one that counts. */
static struct subject {
    const void *key;
    const char *name;
    struct rex_graph *graph, *frozen; /* NODES launches, and one */
    void *function, *raw_graph;       /* the driver's */
} timed = {.key = REX_KERNEL_ID(empty), .name = "empty__kernel__"},
  counted = {.key = REX_KERNEL_ID(counting), .name = "counting__kernel__"}, *subject = &timed;

static void put_raw(void)
{
    int64_t a = 1, b = 2;
    void *parameters[] = {&a, &b, &device_x, &device_y};
    MUST(cu.cuLaunchKernel(subject->function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
}

/* @to NULL: the call waits, or is deferred. */
static void put(struct rex_queue *to)
{
    int64_t a = 1, b = 2;
    struct rex_launch_config launch = rex_launch_config_of(subject->key, 1, 32);
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b), REX_ALLOC(x, 100), REX_ALLOC(y, 100));
    MUST(launch_in(to, &launch, &args));
}

static void put_frozen(int64_t a, int64_t b)
{
    REX_MAP(args, REX_VALUE(a), REX_VALUE(b), REX_ALLOC(x, 100), REX_ALLOC(y, 100));
    MUST(rex_graph_set_args(subject->frozen, 0, &args));
    MUST(rex_graph_launch(subject->frozen, queue));
}

static void raw_issue(void)
{
    for (int i = 0; i < LAUNCHES; i++)
        put_raw();
}

static void queue_issue(void)
{
    for (int i = 0; i < LAUNCHES; i++)
        put(queue);
}

/* Each launch has other values than the one before. */
static void frozen_issue(void)
{
    for (int i = 0; i < LAUNCHES; i += 2) {
        put_frozen(0, 4);
        put_frozen(2, 0);
    }
}

static void deferred_issue(void)
{
    MUST(rex_configure(REX_OPTION_LAUNCH_BLOCKING, "off"));
    for (int i = 0; i < LAUNCHES; i++)
        put(NULL);
}

static void raw_replay(void)
{
    for (int i = 0; i < REPLAYS; i++)
        MUST(cu.cuGraphLaunch(subject->raw_graph, stream));
    MUST(cu.cuStreamSynchronize(stream));
}

static void graph_replay(void)
{
    for (int i = 0; i < REPLAYS; i++)
        MUST(rex_graph_launch(subject->graph, queue));
    MUST(rex_queue_sync(queue));
}

static const struct {
    const char *metric; /* with its peer */
    void (*run)(void);
    int launches;
} rows[] = {
    {"driver queue_issue_4", raw_issue, LAUNCHES},
    {"librex queue_issue_4", queue_issue, LAUNCHES},
    {"librex frozen_issue_4", frozen_issue, LAUNCHES},
    {"librex deferred_issue_4", deferred_issue, LAUNCHES},
    {"driver graph_replay_1000", raw_replay, REPLAYS *NODES},
    {"librex graph_replay_1000", graph_replay, REPLAYS *NODES},
};
#define ROWS (sizeof rows / sizeof *rows)

/* Microseconds of one. What is only issued is waited for afterwards. */
static double measure(size_t row)
{
    double began = now();
    rows[row].run();
    double took = (now() - began) / rows[row].launches;
    MUST(cu.cuStreamSynchronize(stream));
    MUST(rex_queue_sync(queue));
    MUST(rex_configure(REX_OPTION_LAUNCH_BLOCKING, "on")); /* waits for what is deferred */
    return took;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static void open_driver(void)
{
    FIND(cuModuleLoad), FIND(cuModuleGetFunction), FIND(cuStreamCreate), FIND(cuLaunchKernel);
    FIND(cuStreamSynchronize), FIND(cuStreamBeginCapture_v2), FIND(cuStreamEndCapture);
    FIND(cuGraphInstantiateWithFlags), FIND(cuGraphLaunch);
    MUST(cu.cuModuleLoad(&module, rex_module_image_path(&rex_this_module)));
    MUST(cu.cuStreamCreate(&stream, 1));
}

static void prepare(struct subject *of)
{
    void *captured;
    subject = of;
    MUST(cu.cuModuleGetFunction(&of->function, module, of->name));
    MUST(cu.cuStreamBeginCapture_v2(stream, 2));
    MUST(rex_graph_begin(queue));
    for (int i = 0; i < NODES; i++) {
        put_raw();
        put(queue);
    }
    MUST(cu.cuStreamEndCapture(stream, &captured));
    MUST(cu.cuGraphInstantiateWithFlags(&of->raw_graph, captured, 0));
    MUST(rex_graph_end(&of->graph, queue));
    MUST(rex_graph_begin(queue));
    put(queue);
    MUST(rex_graph_end(&of->frozen, queue));
}

/* A row once more, with the kernel that counts: its arguments add up to 1 and 2 for each launch. */
static bool is_right(size_t row, int64_t *a, int64_t *b)
{
    REX_MAP(to, REX_TO(x, 1), REX_TO(y, 1), REX_TO(raw_x, 1), REX_TO(raw_y, 1));
    REX_MAP(from, REX_FROM(x, 1), REX_FROM(y, 1), REX_FROM(raw_x, 1), REX_FROM(raw_y, 1));
    *x = *y = *raw_x = *raw_y = 0;
    MUST(rex_data_update(-1, &to));
    measure(row);
    *x = *y = *raw_x = *raw_y = -1; /* no count, should the copies get lost */
    MUST(rex_data_update(-1, &from));
    *a = *x + *raw_x;
    *b = *y + *raw_y;
    return *a == rows[row].launches && *b == 2 * rows[row].launches;
}

static void print_metrics(void)
{
    double best[ROWS] = {0};
    open_driver();
    prepare(&timed);
    for (int i = 0; i < TURNS; i++)
        for (size_t row = 0; row < ROWS; row++) {
            double time = measure(row);
            best[row] = best[row] == 0 || time < best[row] ? time : best[row];
        }
    prepare(&counted);
    for (size_t row = 0; row < ROWS; row++) {
        int64_t a, b;
        if (is_right(row, &a, &b))
            printf("%s %.4f\n", rows[row].metric, best[row]);
        else
            printf("%s failed: the arguments of its launches add up to %lld and %lld\n",
                   rows[row].metric, (long long)a, (long long)b);
    }
    rex_graph_destroy(timed.graph);
    rex_graph_destroy(timed.frozen);
    rex_graph_destroy(counted.graph);
    rex_graph_destroy(counted.frozen);
}

int main(void)
{
    MUST(rex_offload_init());
    if (rex_module_on_host(&rex_this_module)) {
        puts("skip: there is no GPU");
        return 77;
    }
    REX_MAP(region, REX_TOFROM(x, 100), REX_TOFROM(y, 100), REX_TOFROM(raw_x, 100),
            REX_TOFROM(raw_y, 100));
    REX_DATA_REGION_MAP(NULL, -1, region)
    {
        MUST(rex_queue_create(&queue, -1, "one", 0));
        device_x = rex_mapped_ptr(raw_x, -1);
        device_y = rex_mapped_ptr(raw_y, -1);
        print_metrics();
        MUST(rex_queue_destroy(queue));
    }
    return 0;
}
