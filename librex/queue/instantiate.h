/*
 * instantiate.h - the struct of a graph, and functions that make the driver's graph from its
 * commands.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_INSTANTIATE_H
#define REX_INTERNAL_INSTANTIATE_H

#include "queue/queue.h"

#define REX_GRAPH_LANES 32 /* maximum number of queues in one capture */

/*
 * The driver's graph of the commands. The graph contains device addresses of mappings. These
 * addresses are valid while rex_addresses_generation() returns `generation` (memory/addresses.h).
 */
struct rex_driver_graph {
    void *executable, *graph;
    struct rex_driver_launch {
        void *node;
        struct rex_loaded_image *image; /* the graph keeps the image loaded */
    } * launch;
    size_t launches;
    uint64_t generation;
    struct rex_kernel_list kernels;
};

/*
 * A graph of captured commands. A graph for a GPU also contains the driver's graph of these
 * commands. librex makes the driver's graph again after device addresses have changed.
 */
struct rex_graph {
    struct rex_pooled pooled;
    pthread_mutex_t lock;
    uint64_t number;        /* unique in the process */
    struct rex_graph *next; /* in the list `captured` of graph.c */
    struct rex_stream_gpu gpu;
    bool immediate; /* the queues of the graph execute commands at once */
    struct rex_command *command;
    size_t count, room;
    size_t *launch; /* for each launch, the index in `command` */
    size_t launches;
    struct rex_queue *queue[REX_GRAPH_LANES]; /* queue[0] began the capture */
    char name[64];          /* name of queue[0], for messages: the queue may end before the graph */
    uint32_t lanes, points; /* number of queues; number of recorded events */
    struct rex_driver_graph made;
    bool stale; /* `made` has old device addresses, because rex_graph_build() failed */
};

/* Call these functions only with the graph locked, or in the only thread that can use the graph. */

/* Makes the driver's graph from the commands. Returns 0 or an error. */
int rex_graph_build(struct rex_graph *graph);

/* Destroys MADE, a driver's graph that was made from GRAPH. MADE may be incomplete. */
void rex_graph_unbuild(const struct rex_graph *graph, struct rex_driver_graph *made);

/* Makes the driver's graph again if device addresses have changed. Returns 0 or an error. */
int rex_graph_refresh(struct rex_graph *graph);

#endif
