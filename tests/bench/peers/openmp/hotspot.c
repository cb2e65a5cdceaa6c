/*
 * hotspot.c - hotspot's device run in the words of OpenMP; see examples/hotspot/offload.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../../examples/hotspot/hotspot.h"

enum { REPORTS = 20 };

static void take_step(const struct chip *chip, const double *power, const double *now, double *next)
{
    int64_t size = chip->size, cells = size * size;
    double gain = chip->step / chip->capacity, lateral = 1.0 / chip->resistance, vertical = 1.0 / chip->to_ambient;
#pragma omp target teams distribute parallel for collapse(2) thread_limit(128) map(to : power[0 : cells], now[0 : cells]) \
    map(tofrom : next[0 : cells])
    for (int64_t row = 0; row < size; row++)
        for (int64_t column = 0; column < size; column++) {
            const double *here = now + row * size;
            const double *north = row > 0 ? here - size : here, *south = row < size - 1 ? here + size : here;
            double own = here[column];
            double west = here[column > 0 ? column - 1 : column], east = here[column < size - 1 ? column + 1 : column];
            double in_plane = north[column] + south[column] + west + east - 4.0 * own;
            next[row * size + column] = own + gain * (power[row * size + column] + in_plane * lateral + (AMBIENT - own) * vertical);
        }
}

static void find_extremes(int64_t size, const double *temp, double *coldest, double *hottest, struct device_run *run)
{
    int64_t cells = size * size;
#pragma omp target teams distribute parallel for thread_limit(128) map(to : temp [0:cells]) map(from : coldest [0:size], hottest [0:size])
    for (int64_t row = 0; row < size; row++) {
        double low = temp[row * size], high = low;
        for (int64_t column = 1; column < size; column++) {
            double value = temp[row * size + column];
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        coldest[row] = low;
        hottest[row] = high;
    }
#pragma omp target update from(coldest[0 : size], hottest[0 : size])
    run->coldest = coldest[0];
    run->hottest = hottest[0];
    for (int64_t row = 1; row < size; row++) {
        run->coldest = coldest[row] < run->coldest ? coldest[row] : run->coldest;
        run->hottest = hottest[row] > run->hottest ? hottest[row] : run->hottest;
    }
}

int simulate_on_device(const struct chip *chip, const double *power, double *temp, struct device_run *run)
{
    int64_t size = chip->size, cells = size * size;
    double *scratch = malloc((size_t)(cells + 2 * size) * sizeof *scratch), *now = temp, *next = scratch;
    if (scratch == NULL)
        return -1;
    double *coldest = scratch + cells, *hottest = coldest + size;
    int between_reports = run->iterations / REPORTS > 0 ? run->iterations / REPORTS : 1;
    run->launches = 0;
    double began = seconds_now();
#pragma omp target data map(to : power[0 : cells], temp[0 : cells]) map(alloc : scratch[0 : cells + 2 * size])
    {
        for (int done = 1; done <= run->iterations; done++, run->launches++) {
            take_step(chip, power, now, next);
            double *written = next;
            next = now;
            now = written;
            if (done % between_reports == 0 || done == run->iterations) {
                find_extremes(size, now, coldest, hottest, run);
                run->launches++;
            }
        }
#pragma omp target update from(now[0 : cells])
    }
    run->region_time = run->kernel_time = seconds_now() - began;
    if (now != temp)
        memcpy(temp, now, (size_t)cells * sizeof *temp);
    free(scratch);
    return 0;
}
