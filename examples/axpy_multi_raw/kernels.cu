/*
 * axpy_multi_raw, the device side, by the names of generated code. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL_STEM(OUT__1__rounds__31__, rex_arg n, rex_arg scale, double *x)
{
    REX_FOR(i, rex_arg_int(n))
        x[i] *= rex_arg_double(scale);
}

REX_DEVICE_KERNEL_STEM(OUT__2__rounds__35__, rex_arg n, rex_arg first, const double *x, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] += rex_arg_double(first) * x[i];
}

REX_DEVICE_KERNEL_STEM(OUT__3__rounds__39__, rex_arg n, rex_arg second, const double *x, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] += rex_arg_double(second) * x[i];
}

REX_DEVICE_KERNEL_STEM(OUT__4__rounds__43__, rex_arg n, rex_arg bias, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] += rex_arg_double(bias);
}
