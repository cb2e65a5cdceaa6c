/*
 * Lesson 8, the device side: the kernel of lesson 1.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/*
 * Defines the function `axpy__kernel__`, the name in the host's entry. Parameter i is row i of the host's columns, and
 * every one arrives as 8 bytes: an address (of the device's copy), or a scalar that the host has packed.
 */
REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
{
    /* Every index once, shared among all threads of the grid, however many were launched. */
    REX_FOR(i, n)
        y[i] += a * x[i];
}
