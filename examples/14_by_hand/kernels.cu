/*
 * Lesson 14, the device side: compiled twice, with two values of FACTOR.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(scale, (int64_t) n, (double *) y)
{
    REX_FOR(i, n)
        y[i] *= FACTOR;
}
