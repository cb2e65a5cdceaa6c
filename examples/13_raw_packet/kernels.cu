/*
 * Lesson 13, the device side.
 *
 * REX_DEVICE_KERNEL(axpy, ...) defines the function `axpy__kernel__`, the name in the host's entry.
 * Parameter i is row i of the host's columns. Each parameter is 8 bytes: the address of the
 * device's copy, or a scalar that the host has packed.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
{
    REX_FOR(i, n)
        y[i] += a * x[i];
}

REX_DEVICE_KERNEL(scale, (int64_t) n, (double) a, (double *) y)
{
    REX_FOR(i, n)
        y[i] *= a;
}
