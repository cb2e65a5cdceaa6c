/*
 * axpy_multi, the device side: three small kernels on the same vectors. See axpy_multi.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(multi_scale, rex_arg n, rex_arg a, double *x)
{
    REX_FOR(i, rex_arg_int(n))
        x[i] *= rex_arg_double(a);
}

REX_DEVICE_KERNEL(multi_axpy, rex_arg n, rex_arg a, const double *x, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] += rex_arg_double(a) * x[i];
}

REX_DEVICE_KERNEL(multi_bias, rex_arg n, rex_arg b, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] += rex_arg_double(b);
}
