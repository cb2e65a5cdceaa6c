/*
 * Lesson 8: graphs, launches that are sent again together.
 *
 * Launches and copies in a queue between rex_graph_begin() and rex_graph_end() are captured: librex
 * checks and keeps them, and runs none. The CUDA driver prepares a graph once, and again if its
 * memory has other addresses. Then one call sends all its launches. Making a graph takes longer
 * than sending its launches once, so it pays if they repeat many times. Their values may change:
 * rex_graph_set_args() gives a launch other arguments.
 *
 * A graph keeps host addresses. If a later region maps the memory again, the next
 * rex_graph_launch() finds the new copy. A region must end after rex_queue_sync(), as in lesson 7.
 * Without a GPU a graph runs its launches one after another. The results are equal.
 *
 * Run it:  make && $(make -s print-O)/examples/08_graphs/08_graphs
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <math.h>
#include <stdio.h>

enum { CELLS = 20000, CAPTURED = 10, TIMES = 50 };

REX_KERNEL(grow);

static double population[CELLS];
static struct rex_queue *queue;
static struct rex_graph *graph;

/* Returns the rate of launch @number of the graph. */
static double rate_of(int number)
{
    return 0.001 * (number + 1);
}

static double start_of(int cell)
{
    return 0.01 + 0.9 * cell / (double)CELLS;
}

/* Captures launches of lesson 7's kernel, each with its own rate. */
static int capture(void)
{
    struct rex_launch_config config = rex_launch_config_for(NULL, CELLS);
    config.queue = queue;
    int error = rex_graph_begin(queue);
    for (int number = 0; number < CAPTURED && error == 0; number++)
        error = REX_LAUNCH_WITH(grow, config, REX_VALUE(CELLS), REX_VALUE(rate_of(number)),
                                REX_ALLOC(population, CELLS));
    int ended = rex_graph_end(&graph, queue); /* a capture must end, also after an error */
    return error == 0 ? ended : error;
}

static int launch_graph(int times)
{
    int error = 0;
    for (int i = 0; i < times && error == 0; i++)
        error = rex_graph_launch(graph, queue);
    return error;
}

/* Replaces the arguments of the graph's first launch. Graphs that are already sent keep theirs. */
static int change_first_rate(double rate)
{
    REX_MAP(arguments, REX_VALUE(CELLS), REX_VALUE(rate), REX_ALLOC(population, CELLS));
    return rex_graph_set_args(graph, 0, &arguments);
}

static int grow(void)
{
    int error;
    /* The memory must be mapped when the graph is made, and at each launch of the graph. */
    REX_DATA_REGION(&error, -1, REX_TO(population, CELLS))
        error = capture();
    if (error != 0)
        return error;
    REX_DATA_REGION(&error, -1, REX_TOFROM(population, CELLS)) {
        error = launch_graph(TIMES);
        if (error == 0)
            error = change_first_rate(0.5 * rate_of(0));
        if (error == 0)
            error = launch_graph(TIMES);
        if (error == 0)
            error = rex_queue_sync(queue);
    }
    return error;
}

static int count_wrong(void)
{
    int wrong = 0;
    for (int i = 0; i < CELLS; i += 7) {
        double expected = start_of(i);
        for (int step = 0; step < 2 * TIMES * CAPTURED; step++) {
            int number = step % CAPTURED, changed = number == 0 && step >= TIMES * CAPTURED;
            double rate = changed ? 0.5 * rate_of(0) : rate_of(number);
            expected += rate * expected * (1.0 - expected);
        }
        wrong += !(fabs(population[i] - expected) <= 1e-9);
    }
    return wrong;
}

int main(void)
{
    for (int i = 0; i < CELLS; i++)
        population[i] = start_of(i);
    int error = rex_queue_create(&queue, -1, "steps", 0);
    if (error == 0)
        error = grow();
    if (error == 0)
        printf("%d launches, sent as %d graphs of %zu: %d cells wrong\n", 2 * TIMES * CAPTURED,
               2 * TIMES, rex_graph_launches(graph), count_wrong());
    else if (error == REX_EHOST) /* librex prints all other errors */
        fprintf(stderr, "08_graphs: %s\n", rex_last_error());
    rex_graph_destroy(graph);
    int ended = rex_queue_destroy(queue);
    return error != 0 || ended != 0 || count_wrong() != 0;
}
