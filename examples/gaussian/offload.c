/*
 * offload.c - gaussian's device run: three kernels, and all launches in one data region.
 *
 * Look at run_region(). It copies the matrix to the device once and not back. The solution is a row
 * of REX_FROM(), so it is only copied back. The host does not read the multipliers, so their row is
 * REX_ALLOC().
 *
 * The host has no work between two launches, so ../common/ways.c can put them in a queue or a
 * graph.
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

/* A run. All pointers are host addresses. In a row they stand for the device's copies. */
struct elimination {
    const struct equations *system;
    struct device_run *run;
    double *multiplier;
    double *solution;
};

/* Counts a launch, and returns @config with the run's device and queue. */
static struct rex_launch_config next(struct elimination *work, struct rex_launch_config config)
{
    config.device = work->run->device;
    config.queue = work->run->ways.queue; /* NULL: wait for each launch */
    work->run->launches++;
    return config;
}

static int fan1(struct elimination *work, int64_t step)
{
    int64_t size = work->system->size;
    return REX_LAUNCH_WITH(gaussian_fan1, next(work, rex_launch_config_for(NULL, size - 1 - step)),
                           REX_VALUE(size), REX_VALUE(step),
                           REX_PRESENT(REX_ALLOC(work->system->matrix, size * size)),
                           REX_PRESENT(REX_ALLOC(work->multiplier, size)));
}

/* Launches one team for each row below row @step. */
static int fan2(struct elimination *work, int64_t step)
{
    int64_t size = work->system->size;
    return REX_LAUNCH_WITH(
        gaussian_fan2, next(work, rex_launch_config_of(NULL, size - 1 - step, 128)),
        REX_VALUE(size), REX_VALUE(step), REX_PRESENT(REX_ALLOC(work->multiplier, size)),
        REX_PRESENT(REX_ALLOC(work->system->matrix, size * size)),
        REX_PRESENT(REX_ALLOC(work->system->right, size)));
}

static int back(struct elimination *work, int64_t step)
{
    int64_t size = work->system->size;
    return REX_LAUNCH_WITH(gaussian_back, next(work, rex_launch_config_for(NULL, step + 1)),
                           REX_VALUE(size), REX_VALUE(step),
                           REX_PRESENT(REX_ALLOC(work->system->matrix, size * size)),
                           REX_PRESENT(REX_ALLOC(work->system->right, size)),
                           REX_PRESENT(REX_ALLOC(work->solution, size)));
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
    int result;
    double began = seconds_now();
    REX_DATA_REGION(&result, work->run->device, REX_TO(system->matrix, size * size),
                    REX_TO(system->right, size), REX_ALLOC(work->multiplier, size),
                    REX_FROM(work->solution, size)) {
        result = take(&work->run->ways, eliminate, work);
    }
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
    struct elimination work = {
        .system = system, .run = run, .multiplier = multiplier, .solution = solution};
    run->launches = 0;
    int result = open_ways(&run->ways, run->device);
    if (result == 0)
        result = run_region(&work);
    close_ways(&run->ways);
    if (result != 0)
        fprintf(stderr, "gaussian: after %lld launches: %s\n", (long long)run->launches,
                rex_last_error());
    free(multiplier);
    return result == 0 ? 0 : -1;
}
