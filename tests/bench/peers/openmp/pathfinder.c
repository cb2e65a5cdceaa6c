/*
 * pathfinder.c - pathfinder's device run in the words of OpenMP; see examples/pathfinder/offload.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "../../../../examples/common/common.h"
#include "../../../../examples/pathfinder/pathfinder.h"

static void step(int64_t columns, int64_t cells, const int32_t *cost, const int32_t *now, int32_t *next, int64_t row)
{
    int64_t teams = (columns + 255) / 256;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(256) map(to : cost[0 : cells], now[0 : columns]) \
    map(tofrom : next[0 : columns])
    for (int64_t i = 0; i < columns; i++) {
        int32_t best = now[i];
        if (i > 0 && now[i - 1] < best)
            best = now[i - 1];
        if (i < columns - 1 && now[i + 1] < best)
            best = now[i + 1];
        next[i] = cost[row * columns + i] + best;
    }
}

int walk_on_device(const struct grid *grid, int32_t *cheapest, struct device_run *run)
{
    int64_t columns = grid->columns, cells = grid->rows * columns;
    size_t bytes = (size_t)columns * sizeof *cheapest;
    const int32_t *cost = grid->cost;
    int32_t *now = cheapest, *next = malloc(bytes), *other = next;
    if (next == NULL)
        return -1;
    memcpy(cheapest, cost, bytes);
    run->launches = grid->rows - 1;
    double began = seconds_now();
#pragma omp target data map(to : cost[0 : cells], cheapest[0 : columns]) map(alloc : other[0 : columns])
    {
        for (int64_t row = 1; row < grid->rows; row++) {
            step(columns, cells, cost, now, next, row);
            int32_t *written = next;
            next = now;
            now = written;
        }
#pragma omp target update from(now[0 : columns])
    }
    run->seconds = seconds_now() - began;
    if (now != cheapest)
        memcpy(cheapest, now, bytes);
    free(other);
    return 0;
}
