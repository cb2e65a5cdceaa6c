/*
 * serial.c - pathfinder on the host: the reference for the check. Each cell offers its cost to the
 * three cells below it. In the kernel each cell takes the cheapest of the three cells above it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathfinder.h"

static void offer(int32_t *cell, int32_t cost)
{
    if (cost < *cell)
        *cell = cost;
}

static void step_down(int64_t columns, const int32_t *above, const int32_t *cost, int32_t *below)
{
    for (int64_t i = 0; i < columns; i++)
        below[i] = INT32_MAX;
    for (int64_t i = 0; i < columns; i++) {
        offer(&below[i], above[i]);
        if (i > 0)
            offer(&below[i - 1], above[i]);
        if (i + 1 < columns)
            offer(&below[i + 1], above[i]);
    }
    for (int64_t i = 0; i < columns; i++)
        below[i] += cost[i];
}

int walk_serially(const struct grid *grid, int32_t *cheapest)
{
    size_t bytes = (size_t)grid->columns * sizeof *cheapest;
    int32_t *above = malloc(bytes);
    if (above == NULL)
        return -1;
    memcpy(cheapest, grid->cost, bytes);
    for (int64_t row = 1; row < grid->rows; row++) {
        memcpy(above, cheapest, bytes);
        step_down(grid->columns, above, grid->cost + row * grid->columns, cheapest);
    }
    free(above);
    return 0;
}
