/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

#include "../hold.h"

/* Each result depends on the one before it: order shows. */
REX_DEVICE_KERNEL(follow, (int64_t) n, (int64_t) addend, (int64_t *) value)
{
    REX_FOR(i, n)
        value[i] = (3 * value[i] + addend) % 1000003;
}

REX_DEVICE_KERNEL(sum, (int64_t) n, (const int64_t *) a, (const int64_t *) b, (int64_t *) result)
{
    REX_FOR(i, n)
        result[i] = a[i] + b[i];
}

REX_DEVICE_KERNEL(axpy, (int64_t) n, (double) a, (const double *) x, (double *) y)
{
    REX_FOR(i, n)
        y[i] += a * x[i];
}

/* An env kernel: the runtime's parameter is in front. */
REX_DEVICE_KERNEL_ENV(add_env, (int64_t) n, (int64_t) addend, (int64_t *) value)
{
    REX_FOR(i, n)
        value[i] += addend;
}

/* The base of a section: indexes are those of the host. */
REX_DEVICE_KERNEL(section, (int64_t) lower, (int64_t) length, (int64_t *) value)
{
    REX_FOR(i, length)
        value[lower + i] = 7;
}

/* Parameters of other widths than 8 bytes. */
REX_DEVICE_KERNEL(narrow, (double *) out, (int32_t) a, (float) b, (double) c)
{
    *out = a + (double)b + c;
}

struct pair {
    int64_t first;
    int32_t *second;
};

/* A struct that is mapped with what it points to. */
REX_DEVICE_KERNEL(in_struct, (struct pair *) pair)
{
    REX_FOR(i, pair->first)
        pair->second[i] += 5;
}

/* Two of these see each other only if they run at the same time. */
REX_DEVICE_KERNEL(meet, (volatile int64_t *) mine, (volatile int64_t *) theirs, (int64_t) patience,
                  (int64_t *) met)
{
    *mine = 1;
#if REX_ON_GPU
    __threadfence();
    for (int64_t i = 0; i < patience && *theirs == 0; i++) {
    }
#else
    (void)patience;
#endif
    *met = *theirs;
}

/* Writes where there is no memory. */
REX_DEVICE_KERNEL(fault, (int64_t) address)
{
    *(volatile int64_t *)(uintptr_t)address = 1;
}
