/*
 * particles.h - declarations for the parts of particles.
 *
 *   particles.c  options, the swarms, the check, the summary.
 *   offload.c    the device run, with the mapper: read this file to learn offloading.
 *   kernels.cu   the device side.
 *   serial.c     the reference for the check.
 *   swarm.h      a swarm, for host and device.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef PARTICLES_H
#define PARTICLES_H

#include <stdint.h>

#include "swarm.h"

struct simulation {
    struct swarm *swarm;
    int64_t swarms;
    int steps;
    double step; /* seconds */
};

/* ---- offload.c ---- */

struct device_run {
    int device;       /* in: number, -1 for the default */
    int32_t rows;     /* out: number of rows of the map */
    int64_t launches; /* out */
    double building;  /* out: seconds to build the map */
    double seconds;   /* out: time of the region, with its copies */
};

/* Moves the particles and finds the energies. Returns 0, or an error with a line on stderr. */
int simulate_on_device(const struct simulation *simulation, struct device_run *run);

/* ---- serial.c ---- */

/* Moves the particles and finds the energies on the host. */
void simulate_serially(const struct simulation *simulation);

#endif
