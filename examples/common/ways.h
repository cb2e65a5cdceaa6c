/*
 * ways.h - the three ways to launch, for programs that have --queue and --graph.
 *
 * A program has one function for its work on the device, the *steps*. The function makes equal
 * calls in each way. Its launches have the `queue` of struct ways in their configurations: they
 * return at once, or wait if `queue` is NULL.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef EXAMPLES_WAYS_H
#define EXAMPLES_WAYS_H

#include <rex.h>

#include "common.h"

/* The way of a run. All zeros: the run waits for each launch. */
struct ways {
    enum way way;            /* in */
    struct rex_queue *queue; /* NULL if each launch waits */
    double making; /* out: seconds of the run that making and freeing the graph took */
};

/* Makes a queue if the way needs one. Returns 0 or an error. Call close_ways() in any case. */
int open_ways(struct ways *ways, int device);
void close_ways(struct ways *ways);

/* Calls rex_queue_update() if there is a queue, or rex_data_update(). */
int update(const struct ways *ways, int device, const struct rex_map *map);

/* Waits for the queue, if there is one. Returns 0 or an error of librex. */
int finish(const struct ways *ways);

typedef int steps_function(void *context);

/* Captures the steps in a graph, which the caller destroys. Returns 0 or an error of librex. */
int capture(struct ways *ways, steps_function *steps, void *context, struct rex_graph **graph);

/* Takes the steps in the chosen way, and waits for them. A graph is made and launched once. */
int take(struct ways *ways, steps_function *steps, void *context);

/* Prints a line of the summary, unless each launch waits. */
void print_ways(const struct ways *ways);

#endif
