/*
 * Lesson 4, the device side: three kernels and two global variables in one image.
 *
 * The image holds every kernel of the program's table, from one source or from many.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "parameters.h"

/* The host's REX_GLOBAL finds a variable by its name. The initial values are the image's own. */
REX_DEVICE_GLOBAL(double, time_step) = 0.0;
REX_DEVICE_GLOBAL(double, elapsed) = 0.0;

REX_DEVICE_KERNEL(pull, PULL_PARAMETERS)
{
    REX_FOR(i, count)
        velocity[i] -= time_step * position[i];
}

REX_DEVICE_KERNEL(move, MOVE_PARAMETERS)
{
    REX_FOR(i, count) {
        position[i] += time_step * velocity[i];
        /* One thread of the whole grid runs index 0. */
        if (i == 0)
            elapsed += time_step;
    }
}

REX_DEVICE_KERNEL(energy, ENERGY_PARAMETERS)
{
    REX_FOR(i, count)
        each[i] = 0.5 * (position[i] * position[i] + velocity[i] * velocity[i]);
}
