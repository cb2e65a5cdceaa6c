/*
 * Lesson 3: several kernels, many launches, one data region, and global variables of the device.
 *
 * Bodies on springs: in every step one kernel pulls each body back to its rest position and another moves it. The
 * arrays go to the device once, stay there for all launches, and come back once: that is what __tgt_target_data_begin
 * and _end are for (`#pragma omp target data`). Two global variables live on the device: `time_step`, which the host
 * writes, and `elapsed`, which a kernel writes.
 *
 * Run it:  make && $(make -s print-O)/examples/03_many_kernels/03_many_kernels
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "springs.h"

#include <math.h>
#include <stdio.h>

enum {
    BODIES = 4096,
    COARSE_STEPS = 100,
    FINE_STEPS = 100
};

/*
 * The host sides of the device's globals. REX_GLOBAL makes an entry of address, name and size; from registration on,
 * the host variable's address stands for the device's variable of that name in every data call. Nothing is copied until
 * somebody asks for it.
 */
double time_step = 0.0;
double elapsed = 0.0;
REX_GLOBAL(time_step);
REX_GLOBAL(elapsed);

/* Copies one global: MAP_TO sets the device's variable, MAP_FROM reads it. */
static void update_global(double *global, int64_t direction)
{
    void *address[] = {global};
    int64_t sizes[] = {sizeof *global};
    int64_t types[] = {direction};
    __tgt_target_data_update(-1, 1, address, address, sizes, types);
}

static int run_steps(int steps, double step, int64_t count, double *position, double *velocity)
{
    time_step = step;
    update_global(&time_step, MAP_TO);
    for (int i = 0; i < steps; i++)
        if (take_step(count, position, velocity) != 0)
            return -1;
    return 0;
}

static int measure_energy(int64_t count, double *position, double *velocity, double *each)
{
    int64_t bytes = count * (int64_t)sizeof *position;
    void *address[] = {rex_pack_literal_arg_bytes(&count, sizeof count), position, velocity, each};
    int64_t sizes[] = {sizeof count, bytes, bytes, bytes};
    int64_t types[] = {MAP_LITERAL, MAP_PARAMETER, MAP_PARAMETER, MAP_PARAMETER};
    return launch(REX_KERNEL_ID(energy), count, 4, address, sizes, types);
}

/* Everything on the device, between one begin and one end. */
static int simulate(int64_t count, double *position, double *velocity, double *each)
{
    int64_t bytes = count * (int64_t)sizeof *position;
    void *address[] = {position, velocity, each};
    int64_t sizes[] = {bytes, bytes, bytes};
    /* `each` is only written on the device, so it is not copied there. */
    int64_t types[] = {MAP_TO | MAP_FROM, MAP_TO | MAP_FROM, MAP_ALLOC | MAP_FROM};

    __tgt_target_data_begin(-1, 3, address, address, sizes, types);
    int result = run_steps(COARSE_STEPS, 0.02, count, position, velocity);
    if (result == 0)
        result = run_steps(FINE_STEPS, 0.01, count, position, velocity);
    if (result == 0)
        result = measure_energy(count, position, velocity, each);
    if (result == 0)
        update_global(&elapsed, MAP_FROM);
    /* Always: a region that has begun must end, or the device's copies stay. */
    __tgt_target_data_end(-1, 3, address, address, sizes, types);
    return result;
}

static void set_up(double *position, double *velocity)
{
    for (int i = 0; i < BODIES; i++) {
        position[i] = 1.0 + (double)i / (double)BODIES;
        velocity[i] = 0.0;
    }
}

/* The same motion on the host, and the largest difference from what the device computed. */
static double largest_difference(const double *position, const double *velocity)
{
    double largest = 0.0;
    for (int i = 0; i < BODIES; i++) {
        double x = 1.0 + (double)i / (double)BODIES, v = 0.0;
        for (int step = 0; step < COARSE_STEPS + FINE_STEPS; step++) {
            double dt = step < COARSE_STEPS ? 0.02 : 0.01;
            v -= dt * x;
            x += dt * v;
        }
        largest = fmax(largest, fmax(fabs(x - position[i]), fabs(v - velocity[i])));
    }
    return largest;
}

static double sum(const double *values, int count)
{
    double total = 0.0;
    for (int i = 0; i < count; i++)
        total += values[i];
    return total;
}

int main(void)
{
    static double position[BODIES], velocity[BODIES], each[BODIES];
    set_up(position, velocity);
    double energy_before = 0.0;
    for (int i = 0; i < BODIES; i++)
        energy_before += 0.5 * position[i] * position[i];

    if (rex_offload_init() != 0 || simulate(BODIES, position, velocity, each) != 0)
        return 1;
    rex_offload_fini();

    /* A GPU may fuse multiply and add, which rounds once where the host rounds twice: the last bits may differ. */
    double difference = largest_difference(position, velocity);
    double expected = (double)COARSE_STEPS * 0.02 + (double)FINE_STEPS * 0.01;
    int launches = 2 * (COARSE_STEPS + FINE_STEPS) + 1;
    printf("%d launches over %d bodies, %g time units on the device\n", launches, BODIES, elapsed);
    printf("energy: %.3f before, %.3f after\n", energy_before, sum(each, BODIES));
    printf("largest difference from the host's own run: %.1e\n", difference);
    return !(difference < 1e-12 && fabs(elapsed - expected) < 1e-12);
}
