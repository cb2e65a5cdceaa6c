/*
 * bfs.h - declarations for the parts of bfs.
 *
 *   bfs.c       options, the check, the summary.
 *   offload.c   the device run: read this file to learn offloading.
 *   kernels.cu  the device side.
 *   serial.c    the reference for the check.
 *   graph.c     graph files in Rodinia's format, and generated graphs.
 *   node.h      a node, for host and device.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef BFS_H
#define BFS_H

#include <stdint.h>

#include "../common/ways.h"
#include "node.h"

enum {
    MOST_NODES = 1 << 26,
    MOST_EDGES = 1 << 29,
    UNREACHED = -1 /* the cost of a node that no path leads to */
};

struct graph {
    int64_t nodes;
    int64_t edges;
    int64_t source;     /* first node of the search */
    struct node *node;  /* array of @nodes nodes */
    int32_t *target;    /* array of @edges nodes: the end of each edge */
};

/* ---- graph.c ---- */

/* Reads a file in Rodinia's format. Returns 0, or -1 with a line on stderr; then free_graph(). */
int read_graph(const char *path, struct graph *graph);

/* Writes @graph in Rodinia's format. Returns 0, or -1 with a line on stderr. */
int write_graph(const char *path, const struct graph *graph);

/* Makes Rodinia's random graph, which depends only on the size. Returns 0, or -1: out of memory. */
int make_graph(struct graph *graph, int64_t nodes);

void free_graph(struct graph *graph);

/* ---- offload.c ---- */

struct device_run {
    int device;       /* in: number, -1 for the default */
    struct ways ways; /* in: way to launch */
    int64_t steps;    /* out: number of steps, each with one copy of the flag from the device */
    int64_t launches; /* out: two in a step */
    double seconds;   /* out: time of the region, with its copies */
};

/* Stores each node's distance in edges, or UNREACHED, in @cost. Returns 0, or prints an error. */
int search_on_device(const struct graph *graph, int32_t *cost, struct device_run *run);

/* ---- serial.c ---- */

/* Does the search on the host. Returns 0, or -1: out of memory. */
int search_serially(const struct graph *graph, int32_t *cost);

#endif
