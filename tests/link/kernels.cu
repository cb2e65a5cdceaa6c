/* Kernels of hand.c. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(link_fill, (int64_t) n, (int64_t) value, (int64_t *) x)
{
    REX_FOR(i, n)
        x[i] = value + i;
}

REX_DEVICE_KERNEL(link_add, (int64_t) n, (const int64_t *) x, (int64_t *) y)
{
    REX_FOR(i, n)
        y[i] += x[i];
}
