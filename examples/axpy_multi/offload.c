/*
 * offload.c - axpy_multi's device run: many calls of three kernels, and no data region.
 *
 * Every launch copies its vectors to the device, as in a program that calls kernels from many
 * places. It copies back only the vectors that its kernel changes: axpy() copies y back, and not x.
 * To measure the time that a region saves, put one around the loop in run_on_device(), and use rows
 * of REX_PRESENT() as in examples/pathfinder.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

#include "../common/common.h"
#include "axpy_multi.h"

const char program_name[] = "axpy_multi";

REX_KERNEL(multi_scale);
REX_KERNEL(multi_axpy);
REX_KERNEL(multi_bias);

/* Counts a launch, and returns its configuration. librex chooses a grid for @count iterations. */
static struct rex_launch_config config_of(struct device_run *run, int64_t count)
{
    struct rex_launch_config config = rex_launch_config_for(NULL, count);
    config.device = run->device;
    run->launches++;
    return config;
}

static int scale(struct device_run *run, int64_t n, double a, double *x)
{
    return REX_LAUNCH_WITH(multi_scale, config_of(run, n), REX_VALUE(n), REX_VALUE(a),
                           REX_TOFROM(x, n));
}

static int axpy(struct device_run *run, int64_t n, double a, const double *x, double *y)
{
    return REX_LAUNCH_WITH(multi_axpy, config_of(run, n), REX_VALUE(n), REX_VALUE(a), REX_TO(x, n),
                           REX_TOFROM(y, n));
}

static int bias(struct device_run *run, int64_t n, double b, double *y)
{
    return REX_LAUNCH_WITH(multi_bias, config_of(run, n), REX_VALUE(n), REX_VALUE(b),
                           REX_TOFROM(y, n));
}

static int take_round(struct device_run *run, struct vectors v)
{
    int result = scale(run, v.count, SCALE, v.x);
    if (result == 0)
        result = axpy(run, v.count, FIRST, v.x, v.y);
    if (result == 0)
        result = axpy(run, v.count, SECOND, v.x, v.y);
    return result == 0 ? bias(run, v.count, BIAS, v.y) : result;
}

int run_on_device(struct vectors vectors, struct device_run *run)
{
    int result = 0;
    run->launches = 0;
    double began = seconds_now();
    for (int round = 0; round < run->rounds && result == 0; round++)
        result = take_round(run, vectors);
    run->seconds = seconds_now() - began;
    if (result != 0)
        fprintf(stderr, "axpy_multi: launch %lld: %s\n", (long long)run->launches,
                rex_last_error());
    return result == 0 ? 0 : -1;
}
