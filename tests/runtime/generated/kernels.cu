/*
 * The kernels of rose/, by the names of generated code. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL_STEM(OUT__1__main__38__, (int32_t) n, (float) a, (const float *) x, (float *) y)
{
    REX_FOR(i, n)
        y[i] += a * x[i];
}

REX_DEVICE_KERNEL_STEM(OUT__2__older__20__, (int32_t) n, (float *) y)
{
    REX_FOR(i, n)
        y[i] *= 2.0f;
}

REX_DEVICE_KERNEL_STEM(OUT__3__older__31__, (int32_t) n, (float *) y)
{
    REX_FOR(i, n)
        y[i] += 0.5f;
}
