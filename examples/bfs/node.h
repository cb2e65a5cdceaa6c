/*
 * node.h - a node of the graph, for host and device.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef BFS_NODE_H
#define BFS_NODE_H

#include <stdint.h>

struct node {
    int32_t first; /* number of its first edge */
    int32_t count; /* number of its edges */
};

#endif
