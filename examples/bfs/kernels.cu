/*
 * bfs, the device side: one step of the search, and the preparation of the next step. See bfs.c.
 *
 * Several nodes may reach one new node in a step. They all write equal values.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "node.h"

/* Goes from each node of the frontier to its neighbours that are not visited yet. */
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

/* Makes the reached nodes the next frontier, and sets the flag if there is one. */
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
