/* Parameters of each kind. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
{
    REX_FOR(i, n)
        y[i] += a * x[i];
}

/* The same with the runtime's parameter. */
REX_DEVICE_KERNEL_ENV(axpy_env, (int64_t) n, (double) a, (const double *) x, (double *) y)
{
    REX_FOR(i, n)
        y[i] += a * x[i];
}

#include "kinds.h"

/* One parameter of each kind and a place, so that one row is compared at a time. */
#define TAKES(type, name)                                      \
    REX_DEVICE_KERNEL(takes_##name, (type) value, (double *) out) \
    {                                                          \
        *out = (double)value;                                  \
    }
EACH_SCALAR(TAKES)
REX_DEVICE_KERNEL(takes_few, (struct few) value, (double *) out)
{
    *out = value.a + value.b;
}
/* Without a type for it the bits tell it all the same: it is one of two. */
REX_DEVICE_KERNEL(takes_half, (half_number) value, (double *) out)
{
#if HAS_HALF
    *out = (double)(float)value;
#else
    *out = value.bits == 0xb400 ? -0.25 : 1.5;
#endif
}
REX_DEVICE_KERNEL(takes_pointer, (const void *) value, (double *) out)
{
    *out = value != 0;
}

/* Launch bounds, in each form; the same parameters as the host's. */
#define COUNTS                     \
    {                              \
        REX_FOR(i, n)              \
            out[i] = (double)i;    \
    }
REX_DEVICE_KERNEL_BOUNDS(bounded, (64, 2), (int64_t) n, (double *) out) COUNTS
REX_DEVICE_KERNEL_ENV_BOUNDS(bounded_env, (64), (int64_t) n, (double *) out) COUNTS
REX_DEVICE_KERNEL_BOUNDS_STEM(OUT__1__bounded__70__, (64), (int64_t) n, (double *) out) COUNTS
REX_DEVICE_KERNEL_ENV_BOUNDS_STEM(OUT__2__bounded__71__, (64, 2), (int64_t) n, (double *) out) COUNTS
