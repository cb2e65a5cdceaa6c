/*
 * offload.c - matmul's device run: each device has some rows of a and of c, and all of b.
 *
 * One function does one step for a device, and the program calls it for all devices in turn. On
 * GPUs a launch into a queue returns at once, so all devices compute in parallel, although one
 * thread launches.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

#include "matmul.h"

REX_KERNEL(matmul);

enum {
    TILE = 64,     /* as in kernels.cu */
    THREADS = 256, /* as in kernels.cu */
    MAX_TEAMS = 65535
};

/* A run. */
struct task {
    const struct product *product;
    struct device_run *run;
    bool begins; /* map_share() begins the mapping; false: ends it */
};

static int map_share(const struct share *share, void *context)
{
    const struct task *task = context;
    int64_t size = task->product->size, cells = share->count * size;
    double *a = task->product->a + share->first * size, *b = task->product->b,
           *c = task->product->c + share->first * size;
    REX_MAP(region, REX_TO(a, cells), REX_TO(b, size * size), REX_FROM(c, cells));
    return task->begins ? rex_data_enter(share->device, &region)
                        : rex_data_exit(share->device, &region);
}

static int launch_share(const struct share *share, void *context)
{
    const struct task *task = context;
    int64_t rows = share->count, size = task->product->size;
    int64_t tiles = (rows + TILE - 1) / TILE * ((size + TILE - 1) / TILE);
    double *a = task->product->a + share->first * size, *b = task->product->b,
           *c = task->product->c + share->first * size;
    struct rex_launch_config config =
        rex_launch_config_of(NULL, tiles < MAX_TEAMS ? tiles : MAX_TEAMS, THREADS);
    config.queue = share->queue;
    task->run->launches++;
    return REX_LAUNCH_WITH(matmul, config, REX_VALUE(rows), REX_VALUE(size),
                           REX_ALLOC(a, rows * size), REX_ALLOC(b, size * size),
                           REX_ALLOC(c, rows * size));
}

static int compute(struct task *task, const struct shares *shares)
{
    double began = seconds_now();
    int result = for_each_share(shares, launch_share, task);
    if (result == 0)
        result = finish_shares(shares);
    task->run->computing = seconds_now() - began;
    return result;
}

int multiply(const struct product *product, const struct shares *shares, struct device_run *run)
{
    struct task task = {.product = product, .run = run, .begins = true};
    double began = seconds_now();
    int result = for_each_share(shares, map_share, &task);
    if (result == 0)
        result = compute(&task, shares);
    task.begins = false;
    if (result == 0) /* after an error the program ends, and its mappings with it */
        result = for_each_share(shares, map_share, &task);
    run->seconds = seconds_now() - began;
    if (result != 0)
        fprintf(stderr, "matmul: %s\n", rex_last_error());
    return result;
}
