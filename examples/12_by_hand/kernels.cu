/*
 * Lesson 12, the device side: compiled twice, with two meanings of FACTOR.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(scale, rex_arg n, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] *= FACTOR;
}
