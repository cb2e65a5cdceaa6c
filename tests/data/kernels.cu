/*
 * Kernels and globals for the tests that look into device images. tests/data/cubins compiles them for several GPUs; the
 * Makefile compiles the same source to a host image.
 */
#include "rex/kernel.h"

/* Kernels as another header would write them, without the signatures of rex/kernel.h. */
#ifdef UNMARKED
#undef REX_DEVICE_KERNEL_STEM
#undef REX_DEVICE_KERNEL_ENV_STEM
#define REX_DEVICE_KERNEL_STEM(S, ...) extern "C" __global__ void S##kernel__(REX_PARAMETER_LIST(, REX_PARAMETER_DECLARE, , __VA_ARGS__))
#define REX_DEVICE_KERNEL_ENV_STEM(S, ...) \
    extern "C" __global__ void S##kernel__([[maybe_unused]] void *rex_environment REX_PARAMETER_TAIL(REX_PARAMETER_DECLARE, , __VA_ARGS__))
#endif

struct table {
    double value[4];
};
REX_DEVICE_GLOBAL(struct table, table);

/* Plain: two parameters of 8 bytes. */
REX_DEVICE_KERNEL(plain, (uint64_t) value, (uint64_t *) out)
{
    *out = value;
}

/* The same with the runtime's parameter in front. */
REX_DEVICE_KERNEL_ENV(env, (uint64_t) value, (uint64_t *) out)
{
    *out = value;
}

/* No parameter. */
REX_DEVICE_KERNEL(none, void)
{
    table.value[0] = 1;
}

#if REX_ON_GPU
struct pair {
    double one, other;
};

#ifndef UNMARKED
/* A value of every kind, and a pointer. */
struct three {
    char bytes[3];
};
enum color { RED, GREEN };
REX_DEVICE_KERNEL(kinds, (int8_t) i8, (uint8_t) u8, (int16_t) i16, (uint16_t) u16, (int32_t) i32, (uint32_t) u32, (long) i64,
                  (unsigned long long) u64, (float) f32, (double) f64, (bool) b, (struct three) value, (enum color) color, (uint64_t *) out)
{
    *out = (uint64_t)(i8 + u8 + i16 + u16 + i32 + u32 + i64 + u64 + f32 + f64 + b + value.bytes[2] + color);
}
#endif

/* Without the header's macros. Widths 8, 4, 4, 8. */
extern "C" __global__ void narrow__kernel__(uint64_t *out, int a, float b, double c)
{
    *out = (uint64_t)(a + b + c);
}

/* The first parameter is too narrow to be the runtime's. */
extern "C" __global__ void narrow_first__kernel__(int a, uint64_t value, uint64_t *out)
{
    *out = value + a;
}

/* A struct of 16 bytes. */
extern "C" __global__ void wide__kernel__(struct pair value, uint64_t *out)
{
    *out = (uint64_t)(value.one + value.other);
}
#endif
