/* Parameters of each kind. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(axpy, rex_arg n, rex_arg_f64 a, const double *x, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] += rex_arg_double(a) * x[i];
}

/* The same with the runtime's parameter. */
REX_DEVICE_KERNEL_ENV(axpy_env, rex_arg n, rex_arg_f64 a, const double *x, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] += rex_arg_double(a) * x[i];
}

/* Each accessor, of values that only the right one reads. */
REX_DEVICE_KERNEL(accessors, rex_arg_i8 i8, rex_arg_u8 u8, rex_arg_i16 i16, rex_arg_u16 u16, rex_arg_i32 i32, rex_arg_u32 u32,
                  rex_arg_i64 i64, rex_arg_u64 u64, rex_arg_f32 f32, rex_arg_f64 f64, rex_arg_b yes, rex_arg letter, double *out)
{
    REX_FOR(i, 1) {
        out[0] = rex_arg_int8(i8);
        out[1] = rex_arg_uint8(u8);
        out[2] = rex_arg_int16(i16);
        out[3] = rex_arg_uint16(u16);
        out[4] = rex_arg_int32(i32);
        out[5] = rex_arg_uint32(u32);
        out[6] = (double)rex_arg_int(i64);
        out[7] = (double)rex_arg_uint(u64);
        out[8] = rex_arg_float(f32);
        out[9] = rex_arg_double(f64);
        out[10] = rex_arg_bool(yes);
        out[11] = rex_arg_char(letter);
    }
}

/* An int goes as a word everywhere that arguments are not packed; a double does not on the host device. */
REX_DEVICE_KERNEL(floating, double a, double *y)
{
    *y = a;
}
