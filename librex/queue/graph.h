/*
 * graph.h - a graph, from the inside.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_GRAPH_H
#define REX_INTERNAL_GRAPH_H

#include "queue/queuestate.h"

#define REX_GRAPH_LANES 32 /* queues in one capture */

/*
 * What was captured, and, on a GPU, the driver's graph of it. The list of commands is the graph;
 * the driver's is made from it, and made again when device addresses change.
 */
struct rex_graph {
    pthread_mutex_t lock;
    uint64_t number;        /* of this graph in the process */
    struct rex_graph *next; /* of those that are being captured */
    struct rex_stream_gpu gpu;
    bool immediate; /* as its queues are */
    unsigned forks;
    struct rex_command *command;
    void **owned; /* what each command points to; free() it */
    size_t count, room;
    size_t *launch; /* which command each launch is */
    size_t launches;
    struct rex_queue *queue[REX_GRAPH_LANES]; /* that take part; the first began it */
    uint32_t lanes, points;                   /* queues, events recorded */
    /* On a GPU: */
    void *executable, *graph;
    void **node;         /* of each launch */
    uint64_t generation; /* of the mappings when device addresses were found */
    /* what `executable` has for device addresses is out of date, and could not be made anew */
    bool stale;
    struct rex_kernel_list kernels;
    struct rex_loaded_image **image; /* held */
    size_t images;
};

#endif
