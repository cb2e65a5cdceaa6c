/*
 * Lesson 8, the device side: the kernel of lesson 1, with what a rex_arg is spelt out.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/*
 * Defines the function `axpy__kernel__`, the name in the host's entry. Parameter i is row i of the host's columns, and
 * every one is 8 bytes wide: an address (of the device's copy), or a scalar packed into a rex_arg.
 */
REX_DEVICE_KERNEL(axpy, rex_arg packed_n, rex_arg packed_a, const double *x, double *y)
{
    int64_t n = rex_arg_int(packed_n);
    double a = rex_arg_double(packed_a);
    /* Every index once, shared among all threads of the grid, however many were launched. */
    REX_FOR(i, n)
        y[i] += a * x[i];
}
