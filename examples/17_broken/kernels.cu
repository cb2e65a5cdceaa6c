/*
 * Lesson 17, the device side, which has no mistake.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
{
    REX_FOR(i, n)
        y[i] += a * x[i];
}
