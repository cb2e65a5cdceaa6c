/*
 * Lesson 15, the device side, with the names of generated code.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL_STEM(OUT__1__scale_like__31__, (int64_t) n, (double) a, (double *) x)
{
    REX_FOR(i, n)
        x[i] *= a;
}

REX_DEVICE_KERNEL_STEM(OUT__2__axpy_like__38__, (int64_t) n, (double) a, (const double *) x,
                       (double *) y)
{
    REX_FOR(i, n)
        y[i] += a * x[i];
}

REX_DEVICE_KERNEL_STEM(OUT__3__bias_like__45__, (int64_t) n, (double) b, (double *) y)
{
    REX_FOR(i, n)
        y[i] += b;
}
