/*
 * instantiate.h - the struct of a graph, and the driver's graph of its commands.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_INSTANTIATE_H
#define REX_INTERNAL_INSTANTIATE_H

#include "queue/queue.h"

#define REX_GRAPH_LANES 32 /* queues in one capture */

/* The driver's graph of the commands, with the device addresses in a generation of mappings. */
struct rex_driver_graph {
    void *executable, *graph;
    struct rex_driver_launch {
        void *node;
        struct rex_loaded_image *image; /* held */
    } * launch;
    size_t launches;
    uint64_t generation;
    struct rex_kernel_list kernels;
};

/*
 * Captured commands, and, on a GPU, the driver's graph of them. The driver's graph is made from the
 * list of commands, and made again when device addresses change.
 */
struct rex_graph {
    struct rex_pooled pooled;
    pthread_mutex_t lock;
    uint64_t number;        /* unique in the process */
    struct rex_graph *next; /* in the list of graphs in capture */
    struct rex_stream_gpu gpu;
    bool immediate; /* its queues do all commands at once */
    struct rex_command *command;
    size_t count, room;
    size_t *launch; /* index of each launch in `command` */
    size_t launches;
    struct rex_queue *queue[REX_GRAPH_LANES]; /* that take part; the first began it */
    uint32_t lanes, points;                   /* numbers of queues and of recorded events */
    struct rex_driver_graph made;
    bool stale; /* `made` has outdated device addresses, and could not be made again */
};

/* The caller has locked the graph. The functions return 0 or an error. */

/* Make the driver's graph from the commands. */
int rex_graph_build(struct rex_graph *graph);

/* Destroy MADE, a driver's graph of GRAPH, which may be incomplete. */
void rex_graph_unbuild(const struct rex_graph *graph, struct rex_driver_graph *made);

/* Make it again if device addresses have changed. */
int rex_graph_refresh(struct rex_graph *graph);

#endif
