/*
 * axpy_multi, the device side: three small kernels on two vectors. See axpy_multi.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(multi_scale, (int64_t) n, (double) a, (double *) x)
{
    REX_FOR(i, n)
        x[i] *= a;
}

REX_DEVICE_KERNEL(multi_axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
{
    REX_FOR(i, n)
        y[i] += a * x[i];
}

REX_DEVICE_KERNEL(multi_bias, (int64_t) n, (double) b, (double *) y)
{
    REX_FOR(i, n)
        y[i] += b;
}
