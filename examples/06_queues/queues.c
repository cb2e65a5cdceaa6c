/*
 * Lesson 6: launches that do not wait.
 *
 * The lessons before this one waited for every launch. Where a kernel is short, that is most of the time: the host sends a launch, the
 * GPU is done with it in a microsecond, and the host needs ten to learn of it and send the next. The same thousand steps, in four ways:
 *
 *   1. rex_launch() waits each time. Right where the host has to see each result, and for kernels of a millisecond.
 *   2. A queue takes a launch and returns. Its commands run in order, so a step still sees the one before it; the host waits once.
 *      Pays from the second launch on that does not need the host in between.
 *   3. A graph is made of launches that were captured: the driver checks and prepares them once, and then all go out in one call. Making it costs
 *      as much as some launches, so it pays when the same ones come again and again, with other values, if need be: rex_graph_set_args().
 *   4. Two queues know nothing of each other: what is in one may run beside what is in the other, copies beside kernels too. Pays where
 *      each has enough to do: kernels that leave a part of the GPU idle for long, or copies. Not here, where it only doubles the launches.
 *
 * Whichever way, the memory has to be mapped before and until the queue was waited for. librex keeps watch: take rex_queue_sync() out of
 * in_a_queue() and see what the end of the region says on a GPU.
 *
 * Run it:  make && $(make -s print-O)/examples/06_queues/06_queues
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <math.h>
#include <stdio.h>
#include <time.h>

enum {
    CELLS = 20000,
    STEPS = 1000,
    CAPTURED = 100 /* steps of the graph */
};

REX_KERNEL(grow);

static double population[CELLS];

static double rate_of(int step)
{
    return 0.002 * (1 + step % 10);
}

/* One step of COUNT cells through QUEUE, or, where that is NULL, one that is waited for. */
static int step(struct rex_queue *queue, int number, double *first, int64_t count)
{
    struct rex_launch_config config = rex_launch_config_for(NULL, count); /* what REX_LAUNCH_FOR makes; the queue is new */
    config.queue = queue;
    /* The cells are mapped already: only their address is looked up. */
    return REX_LAUNCH_WITH(grow, config, REX_VALUE(count), REX_VALUE(rate_of(number)), REX_ALLOC(first, count));
}

/* ---- the four ways -------------------------------------------------------------------------------------------------------- */

static struct rex_queue *left, *right;
static struct rex_graph *graph;

static int waiting(void)
{
    int result = 0;
    for (int i = 0; i < STEPS && result == 0; i++)
        result = step(NULL, i, population, CELLS);
    return result;
}

static int in_a_queue(void)
{
    int result = 0;
    for (int i = 0; i < STEPS && result == 0; i++)
        result = step(left, i, population, CELLS);
    return result == 0 ? rex_queue_sync(left) : result;
}

/* Capturing does nothing on the device: the launches are checked and kept. */
static int make_graph(void)
{
    int result = rex_graph_begin(left);
    for (int i = 0; i < CAPTURED && result == 0; i++)
        result = step(left, i, population, CELLS);
    int ended = rex_graph_end(&graph, left); /* a capture has to end, whatever came of it */
    return result == 0 ? ended : result;
}

/* The steps of a graph come again as they were, and so do the rates, every tenth step. */
static int in_a_graph(void)
{
    int result = 0;
    for (int i = 0; i < STEPS / CAPTURED && result == 0; i++)
        result = rex_graph_launch(graph, left);
    return result == 0 ? rex_queue_sync(left) : result;
}

static int in_two_queues(void)
{
    int result = 0;
    for (int i = 0; i < STEPS && result == 0; i++) {
        result = step(left, i, population, CELLS / 2);
        if (result == 0)
            result = step(right, i, population + CELLS / 2, CELLS / 2);
    }
    if (result == 0)
        result = rex_queue_sync(left);
    return result == 0 ? rex_queue_sync(right) : result;
}

/* ---- the lesson ------------------------------------------------------------------------------------------------------------ */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void start_population(void)
{
    for (int i = 0; i < CELLS; i++)
        population[i] = 0.01 + 0.9 * i / (double)CELLS;
}

static int count_wrong(void)
{
    int wrong = 0;
    for (int i = 0; i < CELLS; i += 7) {
        double expected = 0.01 + 0.9 * i / (double)CELLS;
        for (int number = 0; number < STEPS; number++)
            expected += rate_of(number) * expected * (1.0 - expected);
        wrong += !(fabs(population[i] - expected) <= 1e-9);
    }
    return wrong;
}

/* Runs one way from the beginning and prints what it took. 0, or an error of librex, or 1: the result was wrong. */
static int show(const char *name, int (*way)(void))
{
    double took = 0.0;
    int result;
    start_population();
    REX_DATA_REGION(&result, -1, REX_TOFROM(population, CELLS)) {
        double began = seconds_now();
        result = way();
        took = seconds_now() - began;
    }
    int wrong = result == 0 ? count_wrong() : 0;
    if (result == 0)
        printf("%-28s %8.2f us a step, %d cells wrong\n", name, 1e6 * took / (double)STEPS, wrong);
    return result == 0 ? wrong != 0 : result;
}

/* The graph is made while the memory is mapped. The next region maps it anew; the graph finds it there. */
static int prepare(void)
{
    double took = 0.0;
    int result;
    REX_DATA_REGION(&result, -1, REX_TO(population, CELLS)) {
        double began = seconds_now();
        result = make_graph();
        took = seconds_now() - began;
    }
    if (result == 0)
        printf("a graph of %d steps         %8.2f us a step to make, once\n", CAPTURED, 1e6 * took / (double)CAPTURED);
    return result;
}

int main(void)
{
    int result = rex_offload_init();
    if (result == 0)
        result = rex_queue_create(&left, -1, "left", 0);
    if (result == 0)
        result = rex_queue_create(&right, -1, "right", 0);
    if (result == 0 && rex_queue_is_synchronous(left))
        puts("No NVIDIA GPU here: queues do everything at once, and the times say nothing.");
    if (result == 0)
        result = show("each launch waited for", waiting);
    if (result == 0)
        result = show("in a queue", in_a_queue);
    if (result == 0)
        result = prepare();
    if (result == 0)
        result = show("in a graph", in_a_graph);
    if (result == 0)
        result = show("in two queues, half in each", in_two_queues);
    rex_graph_destroy(graph);
    rex_queue_destroy(left);
    rex_queue_destroy(right);
    return result != 0;
}
