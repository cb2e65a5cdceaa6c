/*
 * Kernels and globals for the tests that look into device images. tests/data/cubins compiles them for several GPUs; the
 * Makefile compiles the same source to a host image.
 */
#include "rex/kernel.h"

/* Kernels as another header would write them, without the marks of rex/kernel.h. */
#ifdef UNMARKED
#undef REX_DEVICE_KERNEL_STEM
#undef REX_DEVICE_KERNEL_ENV_STEM
#define REX_DEVICE_KERNEL_STEM(S, ...) extern "C" __global__ void S##kernel__(__VA_ARGS__)
#define REX_DEVICE_KERNEL_ENV_STEM(S, ...) extern "C" __global__ void S##kernel__([[maybe_unused]] void *rex_environment, ##__VA_ARGS__)
#endif

struct table {
    double value[4];
};
REX_DEVICE_GLOBAL(struct table, table);

/* Plain: two parameters of 8 bytes. */
REX_DEVICE_KERNEL(plain, rex_arg value, uint64_t *out)
{
    *out = value;
}

/* The same with the runtime's parameter in front. */
REX_DEVICE_KERNEL_ENV(env, rex_arg value, uint64_t *out)
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

/* Widths 8, 4, 4, 8. */
REX_DEVICE_KERNEL(narrow, uint64_t *out, int a, float b, double c)
{
    *out = (uint64_t)(a + b + c);
}

/* The first parameter is too narrow to be the runtime's. */
REX_DEVICE_KERNEL(narrow_first, int a, rex_arg value, uint64_t *out)
{
    *out = value + a;
}

/* A struct of 16 bytes. */
REX_DEVICE_KERNEL(wide, struct pair value, uint64_t *out)
{
    *out = (uint64_t)(value.one + value.other);
}
#endif
