/* Kernels of the tests of queues. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

#include "../hold.h"

/* Each result depends on the one before it: order shows. */
REX_DEVICE_KERNEL(follow, rex_arg n, rex_arg addend, int64_t *value)
{
    REX_FOR(i, rex_arg_int(n))
        value[i] = (3 * value[i] + rex_arg_int(addend)) % 1000003;
}

REX_DEVICE_KERNEL(axpy, rex_arg n, rex_arg a, const double *x, double *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] += rex_arg_double(a) * x[i];
}

/* An env kernel: the runtime's parameter is in front. */
REX_DEVICE_KERNEL_ENV(add_env, rex_arg n, rex_arg addend, int64_t *value)
{
    REX_FOR(i, rex_arg_int(n))
        value[i] += rex_arg_int(addend);
}

/* The base of a section: indexes are those of the host. */
REX_DEVICE_KERNEL(section, rex_arg lower, rex_arg length, int64_t *value)
{
    REX_FOR(i, rex_arg_int(length))
        value[rex_arg_int(lower) + i] = 7;
}

struct pair {
    int64_t first;
    int32_t *second;
};

/* A struct that is mapped with what it points to. */
REX_DEVICE_KERNEL(in_struct, struct pair *pair)
{
    REX_FOR(i, pair->first)
        pair->second[i] += 5;
}

/* Two of these see each other only if they run at the same time. */
REX_DEVICE_KERNEL(meet, volatile int64_t *mine, volatile int64_t *theirs, rex_arg patience, int64_t *met)
{
    *mine = 1;
#if REX_ON_GPU
    __threadfence();
    for (int64_t i = 0; i < rex_arg_int(patience) && *theirs == 0; i++) {
    }
#else
    (void)patience;
#endif
    *met = *theirs;
}

/* Writes where there is no memory. */
REX_DEVICE_KERNEL(fault, rex_arg address)
{
    *(volatile int64_t *)(uintptr_t)rex_arg_int(address) = 1;
}

/* Three dimensions: every thread counts itself. */
REX_DEVICE_KERNEL(grid, int64_t *extent)
{
#if REX_ON_GPU
    if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z == 0) {
        extent[0] = gridDim.x, extent[1] = gridDim.y, extent[2] = gridDim.z;
        extent[3] = blockDim.x, extent[4] = blockDim.y, extent[5] = blockDim.z;
    }
#else
    for (int i = 0; i < 6; i++)
        extent[i] = 1;
#endif
}
