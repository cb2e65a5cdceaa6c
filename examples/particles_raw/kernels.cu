/*
 * particles_raw, the device side, with the names of generated code.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "swarm.h"

REX_DEVICE_KERNEL_STEM(OUT__1__simulate__34__, (int64_t) n, (double) step, (struct swarm *) swarm)
{
    REX_FOR(i, n)
        for (int64_t k = 0; k < swarm[i].count; k++)
            swarm[i].velocity[k] -= step * swarm[i].stiffness * swarm[i].position[k];
}

REX_DEVICE_KERNEL_STEM(OUT__2__simulate__39__, (int64_t) n, (double) step, (struct swarm *) swarm)
{
    REX_FOR(i, n)
        for (int64_t k = 0; k < swarm[i].count; k++)
            swarm[i].position[k] += step * swarm[i].velocity[k];
}

REX_DEVICE_KERNEL_STEM(OUT__3__simulate__45__, (int64_t) n, (const struct swarm *) swarm,
                       (double *) energy)
{
    REX_FOR(i, n) {
        double sum = 0.0;
        for (int64_t k = 0; k < swarm[i].count; k++)
            sum += swarm[i].velocity[k] * swarm[i].velocity[k] +
                   swarm[i].stiffness * swarm[i].position[k] * swarm[i].position[k];
        energy[i] = 0.5 * sum;
    }
}
