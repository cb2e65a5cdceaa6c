/*
 * node.h - a node of the graph, on host and device alike.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef BFS_NODE_H
#define BFS_NODE_H

#include <stdint.h>

struct node {
    int32_t first; /* its first edge */
    int32_t count; /* how many there are */
};

#endif
