/*
 * serial.c - bfs on the host: the reference for the check of the device run. It shares no code with
 * kernels.cu, and uses a queue of nodes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>

#include "bfs.h"

int search_serially(const struct graph *graph, int32_t *cost)
{
    int32_t *queue = malloc((size_t)graph->nodes * sizeof *queue);
    int64_t head = 0, tail = 0;
    if (queue == NULL)
        return -1;
    for (int64_t i = 0; i < graph->nodes; i++)
        cost[i] = UNREACHED;
    cost[graph->source] = 0;
    queue[tail++] = (int32_t)graph->source;
    while (head < tail) {
        int32_t here = queue[head++];
        const int32_t *target = &graph->target[graph->node[here].first];
        for (int32_t i = 0; i < graph->node[here].count; i++)
            if (cost[target[i]] == UNREACHED) {
                cost[target[i]] = cost[here] + 1;
                queue[tail++] = target[i];
            }
    }
    free(queue);
    return 0;
}
