/*
 * Lesson 4: several kernels, from several files, and global variables of the device.
 *
 * The program moves bodies on springs, in one data region. In every step one kernel pulls each body
 * back to its rest position, and another moves it. Two global variables are on the device: the host
 * writes `time_step`, and a kernel writes `elapsed`.
 *
 * Run it:  make && $(make -s print-O)/examples/04_many_kernels/04_many_kernels
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "springs.h"

#include <math.h>
#include <stdio.h>

enum { BODIES = 4096, COARSE_STEPS = 100, FINE_STEPS = 100 };

/*
 * The host sides of the device's globals. REX_GLOBAL makes an entry of address, name and size.
 * After registration the host variable's address stands for the device's variable of that name in
 * every data call. The two variables have separate values, and an update copies one to the other.
 */
double time_step = 0.0;
double elapsed = 0.0;
REX_GLOBAL(time_step);
REX_GLOBAL(elapsed);

static int set_time_step(double step)
{
    time_step = step;
    REX_MAP(update, REX_OBJECT(REX_MAP_TO, time_step));
    return rex_data_update(-1, &update);
}

static int fetch_elapsed(void)
{
    REX_MAP(update, REX_OBJECT(REX_MAP_FROM, elapsed));
    return rex_data_update(-1, &update);
}

static int run_steps(int steps, double step, int64_t count, double *position, double *velocity)
{
    int error = set_time_step(step);
    for (int i = 0; i < steps && error == 0; i++)
        error = take_step(count, position, velocity);
    return error;
}

/* Runs all steps, and computes the energies, on the device, in one region. */
static int simulate(int64_t count, double *position, double *velocity, double *each)
{
    int error;
    /* The device writes `each` and never reads it, so the region copies it only back. */
    REX_DATA_REGION(&error, -1, REX_TOFROM(position, count), REX_TOFROM(velocity, count),
                    REX_FROM(each, count)) {
        error = run_steps(COARSE_STEPS, 0.02, count, position, velocity);
        if (error == 0)
            error = run_steps(FINE_STEPS, 0.01, count, position, velocity);
        if (error == 0)
            error = REX_LAUNCH_FOR(
                energy, count, REX_VALUE(count), REX_PRESENT(REX_ALLOC(position, count)),
                REX_PRESENT(REX_ALLOC(velocity, count)), REX_PRESENT(REX_ALLOC(each, count)));
        if (error == 0)
            error = fetch_elapsed();
    }
    return error;
}

/* Computes the motion on the host, and counts bodies that differ by more than rounding errors. */
static int count_wrong(const double *position, const double *velocity, const double *each)
{
    int wrong = 0;
    for (int i = 0; i < BODIES; i++) {
        double x = 1.0 + (double)i / (double)BODIES, v = 0.0;
        for (int step = 0; step < COARSE_STEPS + FINE_STEPS; step++) {
            double dt = step < COARSE_STEPS ? 0.02 : 0.01;
            v -= dt * x;
            x += dt * v;
        }
        wrong += !(fabs(x - position[i]) < 1e-12 && fabs(v - velocity[i]) < 1e-12 &&
                   fabs(0.5 * (x * x + v * v) - each[i]) < 1e-12); /* NaN counts as wrong */
    }
    return wrong;
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
    double energy_before = 0.0;
    for (int i = 0; i < BODIES; i++) {
        position[i] = 1.0 + (double)i / (double)BODIES;
        energy_before += 0.5 * position[i] * position[i];
    }

    if (simulate(BODIES, position, velocity, each) != 0) {
        if (rex_last_error_code() == REX_EHOST) /* librex prints all other errors */
            fprintf(stderr, "04_many_kernels: %s\n", rex_last_error());
        return 1;
    }

    /* A GPU may fuse multiply and add, and round once, so the last bits may differ. */
    int wrong = count_wrong(position, velocity, each);
    double expected = (double)COARSE_STEPS * 0.02 + (double)FINE_STEPS * 0.01;
    int launches = 2 * (COARSE_STEPS + FINE_STEPS) + 1;
    printf("%d launches over %d bodies, %g time units on the %s\n", launches, BODIES, elapsed,
           rex_on_host() ? "CPU" : "GPU");
    printf("energy: %.3f before, %.3f after\n", energy_before, sum(each, BODIES));
    printf("%d of %d bodies wrong\n", wrong, BODIES);
    return wrong != 0 || !(fabs(elapsed - expected) < 1e-12);
}
