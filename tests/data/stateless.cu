/*
 * Kernels for the tests of launches by the driver: an image that keeps nothing from one launch to the next, so that it may be loaded twice.
 */
#include "rex/kernel.h"

struct sixty_four {
    double value[8];
};

/* y[i] += a * x[i] for n elements. */
REX_DEVICE_KERNEL(axpy, (uint64_t) n, (uint64_t) a, (const uint64_t *) x, (uint64_t *) y)
{
    for (uint64_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

/* The same with the runtime's parameter in front. */
REX_DEVICE_KERNEL_ENV(axpy_env, (uint64_t) n, (uint64_t) a, (const uint64_t *) x, (uint64_t *) y)
{
    for (uint64_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

/* Values of every width. */
extern "C" __global__ void widths__kernel__(uint64_t *out, char one, short two, int four, long eight, double2 sixteen, struct sixty_four all)
{
    *out = (uint64_t)(one + two + four + eight + sixteen.x + sixteen.y + all.value[7]);
}

REX_DEVICE_KERNEL(nothing, void)
{
}
