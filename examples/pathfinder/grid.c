/*
 * grid.c - pathfinder's inputs, and the comparison at the end. See pathfinder.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>

#include "../common/common.h"
#include "pathfinder.h"

enum {
    COSTS = 10 /* a cell costs 0 to 9 */
};

int make_grid(struct grid *grid, int64_t rows, int64_t columns)
{
    uint64_t random = 9; /* Rodinia's seed */
    int64_t cells = rows * columns;
    *grid = (struct grid){rows, columns, malloc((size_t)cells * sizeof *grid->cost)};
    if (grid->cost == NULL) {
        fprintf(stderr, "pathfinder: out of memory for %lld x %lld cells\n", (long long)rows,
                (long long)columns);
        return -1;
    }
    for (int64_t i = 0; i < cells; i++)
        grid->cost[i] = (int32_t)(next_random(&random) % COSTS);
    return 0;
}

int check_against_serial(const struct grid *grid, const int32_t *cheapest, struct check *check)
{
    int32_t *expected = malloc((size_t)grid->columns * sizeof *expected);
    double began = seconds_now();
    int result = expected != NULL ? walk_serially(grid, expected) : -1;
    check->seconds = seconds_now() - began;
    check->wrong = 0;
    for (int64_t i = 0; i < grid->columns && result == 0; i++)
        check->wrong += cheapest[i] != expected[i];
    if (result != 0)
        fputs("pathfinder: out of memory for the serial run\n", stderr);
    free(expected);
    return result;
}

int32_t least_cost(const int32_t *cheapest, int64_t count)
{
    int32_t least = cheapest[0];
    for (int64_t i = 1; i < count; i++)
        least = cheapest[i] < least ? cheapest[i] : least;
    return least;
}
