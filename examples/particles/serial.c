/*
 * serial.c - particles on the host: the reference for the check. It shares no code with kernels.cu.
 * It computes all steps of one particle before the next particle.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "particles.h"

struct particle {
    double position[3];
    double velocity[3];
};

static void accelerate(const struct swarm *swarm, struct particle *particle, double time)
{
    for (int axis = 0; axis < 3; axis++) {
        double acceleration = swarm->stiffness * swarm->centre[axis] -
                              swarm->stiffness * particle->position[axis] -
                              swarm->drag * particle->velocity[axis];
        particle->velocity[axis] += acceleration * time;
    }
}

static void follow(const struct simulation *simulation, const struct swarm *swarm,
                   struct particle *particle)
{
    for (int i = 0; i < simulation->steps; i++) {
        accelerate(swarm, particle, simulation->step / 2.0);
        for (int axis = 0; axis < 3; axis++)
            particle->position[axis] += particle->velocity[axis] * simulation->step;
        accelerate(swarm, particle, simulation->step / 2.0);
    }
}

static double energy_of(const struct swarm *swarm, const struct particle *particle)
{
    double kinetic = 0.0, potential = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        double away = particle->position[axis] - swarm->centre[axis];
        kinetic += particle->velocity[axis] * particle->velocity[axis] / 2.0;
        potential += away * away * swarm->stiffness / 2.0;
    }
    return kinetic + potential;
}

void simulate_serially(const struct simulation *simulation)
{
    for (int64_t s = 0; s < simulation->swarms; s++) {
        struct swarm *swarm = &simulation->swarm[s];
        swarm->energy = 0.0;
        for (int64_t i = 0; i < swarm->count; i++) {
            double *position = &swarm->position[3 * i], *velocity = &swarm->velocity[3 * i];
            struct particle particle = {{position[0], position[1], position[2]},
                                        {velocity[0], velocity[1], velocity[2]}};
            follow(simulation, swarm, &particle);
            for (int axis = 0; axis < 3; axis++) {
                position[axis] = particle.position[axis];
                velocity[axis] = particle.velocity[axis];
            }
            swarm->energy += energy_of(swarm, &particle);
        }
    }
}
