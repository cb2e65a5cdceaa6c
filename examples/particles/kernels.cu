/*
 * particles, the device side. See particles.c. Teams take swarms, and threads take the coordinates
 * of a swarm's particles. The pointers in a swarm are device addresses.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "swarm.h"

/* Changes the velocities for half a step, by the springs and the drag. */
REX_DEVICE_KERNEL(particles_kick, (int64_t) swarms, (double) time, (struct swarm *) swarm)
{
    REX_FOR_TEAMS(s, swarms) {
        double stiffness = swarm[s].stiffness, drag = swarm[s].drag;
        REX_FOR_THREADS(i, 3 * swarm[s].count) {
            double pull = stiffness * (swarm[s].centre[i % 3] - swarm[s].position[i]);
            swarm[s].velocity[i] += time * (pull - drag * swarm[s].velocity[i]);
        }
    }
}

/* Moves the particles by a step. */
REX_DEVICE_KERNEL(particles_drift, (int64_t) swarms, (double) time, (struct swarm *) swarm)
{
    REX_FOR_TEAMS(s, swarms)
        REX_FOR_THREADS(i, 3 * swarm[s].count)
            swarm[s].position[i] += time * swarm[s].velocity[i];
}

/* Sums the energy of each swarm. One thread sums a whole swarm, so the sum needs no atomics. */
REX_DEVICE_KERNEL(particles_energy, (int64_t) swarms, (struct swarm *) swarm)
{
    REX_FOR(s, swarms) {
        double energy = 0.0;
        for (int64_t i = 0; i < 3 * swarm[s].count; i++) {
            double away = swarm[s].position[i] - swarm[s].centre[i % 3];
            double speed = swarm[s].velocity[i];
            energy += 0.5 * (speed * speed + swarm[s].stiffness * away * away);
        }
        swarm[s].energy = energy;
    }
}
