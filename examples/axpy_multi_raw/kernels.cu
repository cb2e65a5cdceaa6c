/*
 * axpy_multi_raw, the device side, by the names of generated code.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL_STEM(OUT__1__rounds__31__, (int64_t) n, (double) scale, (double *) x)
{
    REX_FOR(i, n)
        x[i] *= scale;
}

REX_DEVICE_KERNEL_STEM(OUT__2__rounds__35__, (int64_t) n, (double) first, (const double *) x,
                       (double *) y)
{
    REX_FOR(i, n)
        y[i] += first * x[i];
}

REX_DEVICE_KERNEL_STEM(OUT__3__rounds__39__, (int64_t) n, (double) second, (const double *) x,
                       (double *) y)
{
    REX_FOR(i, n)
        y[i] += second * x[i];
}

REX_DEVICE_KERNEL_STEM(OUT__4__rounds__43__, (int64_t) n, (double) bias, (double *) y)
{
    REX_FOR(i, n)
        y[i] += bias;
}
