/*
 * graph.h - recording work, for queues and events.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_GRAPH_H
#define REX_INTERNAL_GRAPH_H

#include "queue/event.h"
#include "queue/queues.h"

#define REX_GRAPH_LANES 32 /* queues in one recording */

/*
 * What was recorded, and, on a GPU, the driver's graph of it. The list of work is the graph; the
 * driver's is made from it, and made again when device addresses change.
 */
struct rex_graph {
    pthread_mutex_t lock;
    uint64_t number;        /* of this graph in the process */
    struct rex_graph *next; /* of those that are being recorded */
    struct rex_stream_gpu gpu;
    bool waits;
    unsigned forks;
    struct rex_work *work;
    void **owned; /* what each piece of work points to; free() it */
    size_t count, room;
    size_t *launch; /* which piece of work each launch is */
    size_t launches, launch_room;
    struct rex_queue *queue[REX_GRAPH_LANES]; /* that are recorded; the first began it */
    uint32_t lanes, points;
    /* On a GPU: */
    void *executable, *graph;
    void **node;         /* of each launch */
    uint64_t generation; /* of the mappings when device addresses were found */
    /* what `executable` has for device addresses is out of date, and could not be made anew */
    bool stale;
    struct rex_noted noted;
    struct rex_queue_image **image; /* held */
    size_t images;
};

/* The locked QUEUE begins GRAPH. All that take part, but the one that began, go back to work. */
void rex_recording_begin(struct rex_graph *graph, struct rex_queue *queue);
void rex_recording_end(struct rex_graph *graph);

/* WORK as it would be done now, but for doing it; GRAPH is locked. 0 or an error. */
int rex_graph_check(struct rex_graph *graph, const struct rex_work *work);

/*
 * Put the map of WORK, a launch, in memory of its own, to be freed; NULL where there was none left.
 */
void *rex_graph_own_map(struct rex_work *work);

/* Recording of EVENT on LANE. 0 or an error. */
int rex_graph_record(struct rex_graph *graph, struct rex_event *event, uint32_t lane);

/*
 * QUEUE, which is locked, waits for EVENT. Where that was recorded in a graph that is still being
 * recorded, the wait is recorded there and QUEUE takes part: 1. Where it was not: 0, with an error
 * in *RESULT if QUEUE is being recorded.
 */
int rex_graph_wait(struct rex_queue *queue, struct rex_event *event, int *result);

/*
 * The driver's graph: make it from the work, free it, change the arguments of a launch. The graph
 * is locked. 0 or an error.
 */
int rex_graph_build(struct rex_graph *graph);
void rex_graph_unbuild(struct rex_graph *graph);
int rex_graph_refresh(struct rex_graph *graph);
int rex_graph_change(struct rex_graph *graph, size_t number, const struct rex_work *work);

#endif
