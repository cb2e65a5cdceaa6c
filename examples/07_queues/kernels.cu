/*
 * Lesson 7, the device side: one small step of a population model. No cell depends on another.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(grow, (int64_t) count, (double) rate, (double *) population)
{
    REX_FOR(i, count)
        population[i] += rate * population[i] * (1.0 - population[i]);
}
