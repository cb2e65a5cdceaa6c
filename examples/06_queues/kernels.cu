/*
 * Lesson 6, the device side: one small step of a population model, for every cell on its own.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(grow, rex_arg count, rex_arg rate, double *population)
{
    REX_FOR(i, rex_arg_int(count))
        population[i] += rex_arg_double(rate) * population[i] * (1.0 - population[i]);
}
