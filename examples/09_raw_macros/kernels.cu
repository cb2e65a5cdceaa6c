/*
 * Lesson 9, the device side: the kernel of lesson 8, unchanged. The stem in REX_DEVICE_KERNEL(axpy, ...) is the one in
 * REX_KERNEL(axpy): that is what ties the two sides together.
 *
 * Built with the program: `make`. By hand as in lesson 1.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
{
    REX_FOR(i, n)
        y[i] += a * x[i];
}
