/*
 * particles - swarms of particles on springs: structs with pointers on the device.
 *
 * A data region maps an array of swarms, each with its own arrays, by a mapper: a C function that
 * maps one swarm. Three kernels move the particles and sum their energies. particles.h lists the
 * files. particles_raw does this in the form of generated code.
 *
 * Run it:  make && $(make -s print-O)/examples/particles/particles --help
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/common.h"
#include "particles.h"

enum { LARGEST_SWARM = 63, MOST_SWARMS = 1 << 20 };

/* Tolerance for each step, as a share of the largest value. It allows about 45 roundings. */
#define TOLERANCE_PER_STEP 1e-14

/* ---- swarms ---------------------------------------------------------------------------------- */

static void free_swarms(struct swarm *swarm, int64_t swarms)
{
    for (int64_t i = 0; swarm != NULL && i < swarms; i++) {
        free(swarm[i].position);
        free(swarm[i].velocity);
    }
    free(swarm);
}

/* Makes a swarm of 1 to LARGEST_SWARM particles. Returns 0, or -1: out of memory. */
static int make_swarm(struct swarm *swarm, uint64_t *random)
{
    swarm->count = 1 + (int64_t)(next_random(random) % LARGEST_SWARM);
    swarm->stiffness = 0.5 + next_fraction(random);
    swarm->drag = 0.1 * next_fraction(random);
    size_t coordinates = (size_t)swarm->count * 3;
    swarm->position = malloc(coordinates * sizeof *swarm->position);
    swarm->velocity = malloc(coordinates * sizeof *swarm->velocity);
    if (swarm->position == NULL || swarm->velocity == NULL)
        return -1;
    for (int axis = 0; axis < 3; axis++)
        swarm->centre[axis] = 10.0 * next_fraction(random);
    for (size_t i = 0; i < coordinates; i++) {
        swarm->position[i] = swarm->centre[i % 3] + 2.0 * next_fraction(random) - 1.0;
        swarm->velocity[i] = next_fraction(random) - 0.5;
    }
    return 0;
}

static struct swarm *make_swarms(int64_t swarms)
{
    struct swarm *swarm = calloc((size_t)swarms, sizeof *swarm);
    uint64_t random = 2024;
    int result = swarm != NULL ? 0 : -1;
    for (int64_t i = 0; i < swarms && result == 0; i++)
        result = make_swarm(&swarm[i], &random);
    if (result == 0)
        return swarm;
    fprintf(stderr, "particles: out of memory for %lld swarms\n", (long long)swarms);
    free_swarms(swarm, swarms);
    return NULL;
}

static int64_t count_particles(const struct simulation *simulation)
{
    int64_t count = 0;
    for (int64_t i = 0; i < simulation->swarms; i++)
        count += simulation->swarm[i].count;
    return count;
}

/* ---- the check ------------------------------------------------------------------------------- */

struct check {
    double seconds;
    double difference; /* largest difference, as a share of the largest value */
    double allowed;
    int64_t lost;      /* number of swarms whose host pointers or count have changed */
    int64_t wrong;
};

static void compare(struct check *check, const double *values, const double *expected, size_t count)
{
    double largest = 0.0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (size_t i = 0; i < count; i++) {
        double difference = fabs(values[i] - expected[i]) / largest;
        check->difference = fmax(check->difference, difference);
        /* Not `difference > allowed`, which is false for NaN. */
        check->wrong += !(difference <= check->allowed);
    }
}

/* Compares results with the serial run, and pointers with @before, the swarms before the run. */
static void check_result(const struct simulation *device, const struct simulation *serial,
                         const struct swarm *before, struct check *check)
{
    double began = seconds_now();
    simulate_serially(serial);
    check->seconds = seconds_now() - began;
    check->allowed = TOLERANCE_PER_STEP * (device->steps + LARGEST_SWARM);
    for (int64_t i = 0; i < device->swarms; i++) {
        const struct swarm *one = &device->swarm[i], *other = &serial->swarm[i];
        if (one->position != before[i].position || one->velocity != before[i].velocity ||
            one->count != other->count) {
            check->lost++;
            continue;
        }
        compare(check, one->position, other->position, 3 * (size_t)one->count);
        compare(check, one->velocity, other->velocity, 3 * (size_t)one->count);
        compare(check, &one->energy, &other->energy, 1);
    }
}

/* ---- the program ----------------------------------------------------------------------------- */

static int compute(const struct settings *settings, struct simulation *device,
                   struct simulation *serial, struct swarm *before)
{
    struct device_run run = {.device = settings->device};
    struct check check = {0};
    memcpy(before, device->swarm, (size_t)device->swarms * sizeof *before);
    if (simulate_on_device(device, &run) != 0)
        return 1;
    if (settings->verify)
        check_result(device, serial, before, &check);
    print_line("particles", "%lld in %lld swarms, %d steps", (long long)count_particles(serial),
               (long long)device->swarms, device->steps);
    print_run(settings, run.launches, run.seconds);
    print_line("map", "%d rows, built in %.6f s", run.rows, run.building);
    return print_check(
        settings, check.wrong == 0 && check.lost == 0, check.seconds,
        "largest difference %.1e of the largest value, %.0e allowed; %lld pointers lost",
        check.difference, check.allowed, (long long)check.lost);
}

int main(int argc, char **argv)
{
    struct simulation device = {.step = 0.01}, serial;
    int64_t steps = 100;
    const struct extra_option extra[] = {
        {"steps", "I", "time steps (100)", NULL, &steps, 1, 1000000},
        {NULL, NULL, NULL, NULL, NULL, 0, 0},
    };
    struct settings settings = {
        .program = "particles",
        .purpose = "Moves swarms of particles on a device of libomptarget, and checks the result\n"
                   "against a serial run. A mapper maps the swarms, of 1 to 63 particles each.",
        .unit = "number of swarms",
        .size = 1024,
        .smallest = 1,
        .largest = MOST_SWARMS,
        .extra = extra,
    };
    read_options(&settings, argc, argv);
    if (start_offload(&settings) != 0)
        return 1;
    device.swarms = settings.size;
    device.steps = (int)steps;
    serial = device;
    device.swarm = make_swarms(device.swarms);
    serial.swarm = make_swarms(serial.swarms);
    struct swarm *before = malloc((size_t)device.swarms * sizeof *before);
    int ready = device.swarm != NULL && serial.swarm != NULL && before != NULL;
    int status = ready ? compute(&settings, &device, &serial, before) : 1;
    free_swarms(device.swarm, device.swarms);
    free_swarms(serial.swarm, serial.swarms);
    free(before);
    return status;
}
