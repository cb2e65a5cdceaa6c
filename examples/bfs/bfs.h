/*
 * bfs.h - what the parts of bfs share.
 *
 *   bfs.c       options, the check, the summary.
 *   offload.c   the device run: the one to read for offloading.
 *   kernels.cu  the device side.
 *   serial.c    the reference for the check.
 *   graph.c     graph files in Rodinia's format, and graphs that are made up.
 *   node.h      what host and device both know.
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
    int64_t source;     /* where the search begins */
    struct node *node;  /* @nodes of them */
    int32_t *target;    /* @edges of them: where each leads */
};

/* ---- graph.c ---- */

/* Reads a file in Rodinia's format. 0, or -1 and a line on stderr. Free with free_graph(). */
int read_graph(const char *path, struct graph *graph);

/* Writes it. 0, or -1 with a line on stderr. */
int write_graph(const char *path, const struct graph *graph);

/* Rodinia's random graph, the same for the same size every time. 0, or -1: out of memory. */
int make_graph(struct graph *graph, int64_t nodes);

void free_graph(struct graph *graph);

/* ---- offload.c ---- */

struct device_run {
    int device;       /* in: number, -1 for the default */
    struct ways ways; /* in: how to launch */
    int64_t steps;    /* out: how often the flag was asked for */
    int64_t launches; /* out: two in a step */
    double seconds;   /* out: the region, with its copies */
};

/* @cost receives each node's distance in edges, or UNREACHED. 0, or -1 with a line on stderr. */
int search_on_device(const struct graph *graph, int32_t *cost, struct device_run *run);

/* ---- serial.c ---- */

/* The same on the host. 0, or -1: out of memory. */
int search_serially(const struct graph *graph, int32_t *cost);

#endif
