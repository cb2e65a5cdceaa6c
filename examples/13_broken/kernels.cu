/*
 * Lesson 13, the device side, which is right.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(axpy, rex_arg n, rex_arg a, const double *x, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] += rex_arg_double(a) * x[i];
}
