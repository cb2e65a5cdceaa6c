/* Kernels that leave the memory of their launch alone, and that read and write one array by two pointers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(nothing, (uint64_t) n)
{
    (void)n;
}

REX_DEVICE_KERNEL(increase, (int64_t) n, (const int64_t *) from, (int64_t *) to)
{
    REX_FOR(i, n)
        to[i] = from[i] + 1;
}
