/* The kernels of micro.h. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

#include "micro.h"

REX_DEVICE_KERNEL(micro_nothing, void)
{
}

REX_DEVICE_KERNEL(micro_axpy_kernel, rex_arg n, rex_arg a, const double *x, double *y)
{
    double factor = rex_arg_double(a);
    REX_FOR(i, rex_arg_int(n))
        y[i] += factor * x[i];
}

/* Only the first of them is used. */
#define P1(name) __attribute__((unused)) double *name
#define P4(n) P1(a##n##0), P1(a##n##1), P1(a##n##2), P1(a##n##3)
#define P16(n) P4(n##0), P4(n##1), P4(n##2), P4(n##3)
#define P64(n) P16(n##0), P16(n##1), P16(n##2), P16(n##3)
#define P256(n) P64(n##0), P64(n##1), P64(n##2), P64(n##3)
REX_DEVICE_KERNEL(micro_4, P4(_))
{
    *a_0 += 1;
}
REX_DEVICE_KERNEL(micro_16, P16(_))
{
    *a_00 += 1;
}
REX_DEVICE_KERNEL(micro_64, P64(_))
{
    *a_000 += 1;
}
REX_DEVICE_KERNEL(micro_256, P256(_))
{
    *a_0000 += 1;
}

/* About a millisecond: a chain of dependent operations that no compiler can shorten. */
REX_DEVICE_KERNEL(micro_spin, double *out)
{
    double value = *out;
    for (int i = 0; i < BUSY_TURNS; i++)
        value = value * 0.999999 + 1e-6;
    *out = value;
}
