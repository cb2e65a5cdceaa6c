/*
 * offload.c - gaussian's device run: three kernels and some three thousand launches in one data region.
 *
 * What to look at: run_region(). The matrix goes to the device once and does not come back; what comes back is the solution, a row of
 * REX_FROM(). Two of the arrays exist for the device alone: the host never looks at the multipliers, so their row is REX_ALLOC().
 *
 * The host has nothing to do between two launches, so they can go in a queue, or in a graph, which ../common/ways.c does.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>
#include <stdlib.h>

#include "gaussian.h"

REX_KERNEL(gaussian_fan1);
REX_KERNEL(gaussian_fan2);
REX_KERNEL(gaussian_back);

enum {
    THREADS = 128,
    MOST_TEAMS = 65535
};

/* A run that is under way. All pointers are host addresses, which stand for the device's copies in every row of a map. */
struct elimination {
    const struct equations *system;
    struct device_run *run;
    double *multiplier;
    double *solution;
};

static int run_kernel(struct elimination *work, const void *key, int64_t teams, const struct rex_map *arguments)
{
    struct rex_launch_config description =
        rex_launch_config_of(key, (uint32_t)(teams < MOST_TEAMS ? teams : MOST_TEAMS), THREADS);
    description.device = work->run->device;
    work->run->launches++;
    return launch(&work->run->ways, &description, arguments);
}

/* Blocks for @count threads. */
static int64_t teams_for(int64_t count)
{
    return (count + THREADS - 1) / THREADS;
}

static int fan1(struct elimination *work, int64_t step)
{
    int64_t size = work->system->size;
    REX_MAP(arguments, REX_VALUE(size), REX_VALUE(step), REX_ALLOC(work->system->matrix, size * size),
            REX_ALLOC(work->multiplier, size));
    return run_kernel(work, REX_KERNEL_ID(gaussian_fan1), teams_for(size - 1 - step), &arguments);
}

static int fan2(struct elimination *work, int64_t step)
{
    int64_t size = work->system->size;
    REX_MAP(arguments, REX_VALUE(size), REX_VALUE(step), REX_ALLOC(work->multiplier, size),
            REX_ALLOC(work->system->matrix, size * size), REX_ALLOC(work->system->right, size));
    return run_kernel(work, REX_KERNEL_ID(gaussian_fan2), size - 1 - step, &arguments);
}

static int back(struct elimination *work, int64_t step)
{
    int64_t size = work->system->size;
    REX_MAP(arguments, REX_VALUE(size), REX_VALUE(step), REX_ALLOC(work->system->matrix, size * size),
            REX_ALLOC(work->system->right, size), REX_ALLOC(work->solution, size));
    return run_kernel(work, REX_KERNEL_ID(gaussian_back), teams_for(step + 1), &arguments);
}

static int eliminate(void *context)
{
    struct elimination *work = context;
    int64_t size = work->system->size;
    int result = 0;
    for (int64_t step = 0; step < size - 1 && result == 0; step++) {
        result = fan1(work, step);
        if (result == 0)
            result = fan2(work, step);
    }
    for (int64_t step = size - 1; step >= 0 && result == 0; step--)
        result = back(work, step);
    return result;
}

static int run_region(struct elimination *work)
{
    const struct equations *system = work->system;
    int64_t size = system->size;
    int result = 0;
    REX_MAP(region, REX_TO(system->matrix, size * size), REX_TO(system->right, size), REX_ALLOC(work->multiplier, size),
                 REX_FROM(work->solution, size));
    double began = seconds_now();
    REX_DATA_REGION_MAP(&result, work->run->device, region)
        result = take(&work->run->ways, eliminate, work);
    work->run->seconds = seconds_now() - began;
    return result;
}

int solve_on_device(const struct equations *system, double *solution, struct device_run *run)
{
    double *multiplier = malloc((size_t)system->size * sizeof *multiplier);
    if (multiplier == NULL) {
        fputs("gaussian: out of memory\n", stderr);
        return -1;
    }
    struct elimination work = {.system = system, .run = run, .multiplier = multiplier, .solution = solution};
    run->launches = 0;
    int result = open_ways(&run->ways, run->device);
    if (result == 0)
        result = run_region(&work);
    close_ways(&run->ways);
    if (result != 0)
        fprintf(stderr, "gaussian: after %lld launches: %s\n", (long long)run->launches, rex_last_error());
    free(multiplier);
    return result == 0 ? 0 : -1;
}
