/*
 * swarm.h - the user's own header, for the program, its kernels and its check.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef PARTICLES_RAW_SWARM_H
#define PARTICLES_RAW_SWARM_H

#include <stdint.h>

/* Particles on a line, bound to 0 by a spring. */
struct swarm {
    int64_t count;
    double stiffness;
    double *position; /* count coordinates */
    double *velocity; /* count coordinates */
};

/* serial.c: simulates on the host. @energy receives one number for each swarm. */
void simulate_serially(struct swarm *swarm, int64_t swarms, int steps, double step, double *energy);

#endif
