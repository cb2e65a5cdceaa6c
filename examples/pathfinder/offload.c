/*
 * offload.c - pathfinder's device run: a loop of launches in one data region.
 *
 * Look at step(). A launch reads one of the two rows of results and writes the other, and
 * take_steps() swaps them. Each array is REX_PRESENT: the region has mapped it, so the launch
 * copies nothing and only looks up the device's address. The program copies the grid to the device
 * once, and the last row of results back.
 *
 * The host reads no data between two launches. So walk_down() can put all launches in a queue, or
 * capture them in a graph. step() is equal for all ways: it waits if the queue in its configuration
 * is NULL.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathfinder.h"

REX_KERNEL(pathfinder_step);

/* A walk. All pointers are host addresses. In a row they stand for the device's copies. */
struct walk {
    const struct grid *grid;
    struct device_run *run;
    int32_t *now;
    int32_t *next;
};

static int step(struct walk *walk, int64_t row)
{
    const struct grid *grid = walk->grid;
    int64_t columns = grid->columns;
    struct rex_launch_config config = rex_launch_config_for(NULL, columns);
    config.device = walk->run->device;
    config.queue = walk->run->ways.queue; /* NULL: wait for each launch */
    walk->run->launches++;
    return REX_LAUNCH_WITH(pathfinder_step, config, REX_VALUE(row), REX_VALUE(columns),
                           REX_PRESENT(REX_ALLOC(grid->cost, grid->rows * columns)),
                           REX_PRESENT(REX_ALLOC(walk->now, columns)),
                           REX_PRESENT(REX_ALLOC(walk->next, columns)));
}

/* Launches a step for each row after the first. */
static int take_steps(void *context)
{
    struct walk *walk = context;
    int result = 0;
    for (int64_t row = 1; row < walk->grid->rows && result == 0; row++) {
        result = step(walk, row);
        int32_t *written = walk->next;
        walk->next = walk->now;
        walk->now = written;
    }
    return result;
}

/* Takes all steps, and copies the result from the buffer that was written last. */
static int walk_down(struct walk *walk)
{
    int result = take(&walk->run->ways, take_steps, walk);
    REX_MAP(last, REX_FROM(walk->now, walk->grid->columns));
    return result == 0 ? rex_data_update(walk->run->device, &last) : result;
}

static int run_region(struct walk *walk)
{
    const struct grid *grid = walk->grid;
    int result;
    double began = seconds_now();
    REX_DATA_REGION(&result, walk->run->device, REX_TO(grid->cost, grid->rows * grid->columns),
                    REX_TO(walk->now, grid->columns), REX_ALLOC(walk->next, grid->columns)) {
        result = walk_down(walk);
    }
    walk->run->seconds = seconds_now() - began;
    return result;
}

int walk_on_device(const struct grid *grid, int32_t *cheapest, struct device_run *run)
{
    size_t bytes = (size_t)grid->columns * sizeof *cheapest;
    int32_t *other = malloc(bytes);
    if (other == NULL) {
        fputs("pathfinder: out of memory\n", stderr);
        return -1;
    }
    struct walk walk = {.grid = grid, .run = run, .now = cheapest, .next = other};
    run->launches = 0;
    memcpy(cheapest, grid->cost, bytes);
    int result = open_ways(&run->ways, run->device);
    if (result == 0)
        result = run_region(&walk);
    close_ways(&run->ways);
    if (result != 0)
        fprintf(stderr, "pathfinder: after %lld launches: %s\n", (long long)run->launches,
                rex_last_error());
    else if (walk.now != cheapest)
        memcpy(cheapest, walk.now, bytes);
    free(other);
    return result == 0 ? 0 : -1;
}
