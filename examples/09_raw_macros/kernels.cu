/*
 * Lesson 9, the device side: the kernel of lesson 8, unchanged. The stem in REX_DEVICE_KERNEL(axpy, ...) is the one in
 * REX_KERNEL(axpy): that is what ties the two sides together.
 *
 * Built with the program: `make`. By hand as in lesson 1.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(axpy, rex_arg packed_n, rex_arg packed_a, const double *x, double *y)
{
    int64_t n = rex_arg_int(packed_n);
    double a = rex_arg_double(packed_a);
    REX_FOR(i, n)
        y[i] += a * x[i];
}
