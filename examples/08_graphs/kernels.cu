/*
 * Lesson 8, the device side: the kernel of lesson 7.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(grow, (int64_t) count, (double) rate, (double *) population)
{
    REX_FOR(i, count)
        population[i] += rate * population[i] * (1.0 - population[i]);
}
