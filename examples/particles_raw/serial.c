/*
 * serial.c - particles_raw on the host: the reference for the check, one particle at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "swarm.h"

static double follow(double *position, double *velocity, double stiffness, int steps, double step)
{
    double x = *position, v = *velocity;
    for (int i = 0; i < steps; i++) {
        v -= x * stiffness * step;
        x += v * step;
    }
    *position = x;
    *velocity = v;
    return v * v / 2.0 + x * x * stiffness / 2.0;
}

void simulate_serially(struct swarm *swarm, int64_t swarms, int steps, double step, double *energy)
{
    for (int64_t i = 0; i < swarms; i++) {
        energy[i] = 0.0;
        for (int64_t k = 0; k < swarm[i].count; k++)
            energy[i] += follow(&swarm[i].position[k], &swarm[i].velocity[k], swarm[i].stiffness,
                                steps, step);
    }
}
