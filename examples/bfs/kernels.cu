/*
 * bfs, the device side: a step outwards, and the books for the next one. See bfs.c.
 *
 * Several nodes may reach the same new one in a step. They all write the same values.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "node.h"

/* From each node of the frontier to those of its neighbours that have not been visited. */
REX_DEVICE_KERNEL(bfs_expand, (int64_t) nodes, (const struct node *) node, (const int32_t *) target,
                  (uint8_t *) frontier, (const uint8_t *) visited, (uint8_t *) reached,
                  (int32_t *) cost)
{
    REX_FOR(i, nodes) {
        if (frontier[i]) {
            int64_t end = (int64_t)node[i].first + node[i].count;
            frontier[i] = 0;
            for (int64_t edge = node[i].first; edge < end; edge++)
                if (!visited[target[edge]]) {
                    cost[target[edge]] = cost[i] + 1;
                    reached[target[edge]] = 1;
                }
        }
    }
}

/* The nodes reached are the next frontier; if there are any, the search goes on. */
REX_DEVICE_KERNEL(bfs_advance, (int64_t) nodes, (uint8_t *) frontier, (uint8_t *) visited,
                  (uint8_t *) reached, (int32_t *) go_on)
{
    REX_FOR(i, nodes) {
        if (reached[i]) {
            frontier[i] = 1;
            visited[i] = 1;
            reached[i] = 0;
            *go_on = 1;
        }
    }
}
