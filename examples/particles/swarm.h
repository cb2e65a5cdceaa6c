/*
 * swarm.h - a swarm of particles, for host and device.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef PARTICLES_SWARM_H
#define PARTICLES_SWARM_H

#include <stdint.h>

/* Particles of one kind, bound to a centre by springs and slowed by air. */
struct swarm {
    int64_t count;
    double stiffness; /* of the spring, 1/s^2 */
    double drag;      /* of the air, 1/s */
    double centre[3];
    double energy;    /* of all its particles at the end, per unit of mass */
    double *position; /* 3 * count coordinates */
    double *velocity; /* 3 * count coordinates */
};

#endif
