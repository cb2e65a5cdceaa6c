/*
 * ways.h - the three ways to launch, for programs that have --queue and --graph.
 *
 * A program puts its work on the device into one function, the *steps*, which makes the same calls
 * in each way. A launch with `queue` of struct ways in its config returns at once, or waits where
 * that is NULL.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef EXAMPLES_WAYS_H
#define EXAMPLES_WAYS_H

#include <rex.h>

#include "common.h"

/* How a run launches. Zeros: it waits for each launch. */
struct ways {
    enum way way;            /* in */
    struct rex_queue *queue; /* NULL where each launch is waited for */
    double making; /* out: of the run's seconds, what the graph took to make and to free */
};

/* Makes the queue, if one is wanted. 0, or an error of librex. close_ways() in any case. */
int open_ways(struct ways *ways, int device);
void close_ways(struct ways *ways);

/* rex_data_update(), or rex_queue_update(). */
int update(const struct ways *ways, int device, const struct rex_map *map);

/* Waits for the queue, if there is one. 0, or an error of librex. */
int finish(const struct ways *ways);

typedef int steps_function(void *context);

/* Captures the steps. 0 and a graph, to be destroyed, or an error of librex. */
int capture(struct ways *ways, steps_function *steps, void *context, struct rex_graph **graph);

/* Takes the steps, whichever way, and waits for them; a graph is made and launched once. */
int take(struct ways *ways, steps_function *steps, void *context);

/* A line of the summary, where launches are not waited for. */
void print_ways(const struct ways *ways);

#endif
