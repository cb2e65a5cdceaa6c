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

#define FOUR(a) (int64_t) a##0, (int64_t) a##1, (int64_t) a##2, (int64_t) a##3
#define SUM(a) (a##0 + a##1 + a##2 + a##3)
REX_DEVICE_KERNEL(add_many, FOUR(a), FOUR(b), FOUR(c), FOUR(d), FOUR(e), FOUR(f), FOUR(g),
                  (int64_t *) to)
{
    *to += SUM(a) + SUM(b) + SUM(c) + SUM(d) + SUM(e) + SUM(f) + SUM(g);
}
