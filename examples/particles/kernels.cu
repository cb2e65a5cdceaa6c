/*
 * particles, the device side. See particles.c. Teams take swarms, and threads take the coordinates of a swarm's particles: the
 * pointers in a swarm are those of the device's own copies.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "swarm.h"

/* Half of a step of the velocities, by what pulls and what slows down. */
REX_DEVICE_KERNEL(particles_kick, rex_arg packed_swarms, rex_arg packed_time, struct swarm *swarm)
{
    int64_t swarms = rex_arg_int(packed_swarms);
    double time = rex_arg_double(packed_time);
    for (int64_t s = rex_team(0); s < swarms; s += rex_num_teams(0)) {
        double stiffness = swarm[s].stiffness, drag = swarm[s].drag;
        for (int64_t i = rex_thread(0); i < 3 * swarm[s].count; i += rex_num_threads(0)) {
            double pull = stiffness * (swarm[s].centre[i % 3] - swarm[s].position[i]);
            swarm[s].velocity[i] += time * (pull - drag * swarm[s].velocity[i]);
        }
    }
}

/* A step of the positions. */
REX_DEVICE_KERNEL(particles_drift, rex_arg packed_swarms, rex_arg packed_time, struct swarm *swarm)
{
    int64_t swarms = rex_arg_int(packed_swarms);
    double time = rex_arg_double(packed_time);
    for (int64_t s = rex_team(0); s < swarms; s += rex_num_teams(0))
        for (int64_t i = rex_thread(0); i < 3 * swarm[s].count; i += rex_num_threads(0))
            swarm[s].position[i] += time * swarm[s].velocity[i];
}

/* What is left of a swarm's energy, one thread to a swarm, for the sum has to be written by one. */
REX_DEVICE_KERNEL(particles_energy, rex_arg packed_swarms, struct swarm *swarm)
{
    REX_FOR(s, rex_arg_int(packed_swarms)) {
        double energy = 0.0;
        for (int64_t i = 0; i < 3 * swarm[s].count; i++) {
            double away = swarm[s].position[i] - swarm[s].centre[i % 3], speed = swarm[s].velocity[i];
            energy += 0.5 * (speed * speed + swarm[s].stiffness * away * away);
        }
        swarm[s].energy = energy;
    }
}
