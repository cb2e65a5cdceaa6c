/*
 * particles.h - what the parts of particles share.
 *
 *   particles.c  options, the swarms, the check, the summary
 *   offload.c    the device run, with the mapper: the one to read for offloading
 *   kernels.cu   the device side
 *   serial.c     the reference for the check
 *   swarm.h      what host and device both know
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
    int32_t rows;     /* out: of the map */
    int64_t launches; /* out */
    double building;  /* out: seconds for the map */
    double seconds;   /* out: the region, with its copies */
};

/* Moves the particles and finds the energies. 0, or -1 with the reason on stderr. */
int simulate_on_device(const struct simulation *simulation, struct device_run *run);

/* ---- serial.c ---- */

/* The same on the host. */
void simulate_serially(const struct simulation *simulation);

#endif
