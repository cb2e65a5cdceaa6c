/* Kernels that stay or add. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "../hold.h"

REX_DEVICE_KERNEL(nothing, (uint64_t) n)
{
    (void)n;
}

REX_DEVICE_KERNEL(add, (int64_t) by, (int64_t) at, (int64_t *) to)
{
    to[at] += by;
}

REX_DEVICE_KERNEL(add_all, (int64_t) n, (const int64_t *) from, (int64_t *) to)
{
    REX_FOR(i, n)
        to[i] += from[i];
}

/* flags[0]: it has begun. It stays until the program sets flags[1], in memory that both see. */
REX_DEVICE_KERNEL(stay, (volatile int64_t *) flags, (int64_t *) to)
{
    flags[0] = 1;
    while (flags[1] == 0) {
    }
    to[0] += 1;
}
