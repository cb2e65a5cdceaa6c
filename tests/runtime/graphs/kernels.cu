/* Kernels of the tests of graphs. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

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

/* Writes where there is no memory. */
REX_DEVICE_KERNEL(fault, (int64_t) address)
{
    *(volatile int64_t *)(uintptr_t)address = 1;
}
