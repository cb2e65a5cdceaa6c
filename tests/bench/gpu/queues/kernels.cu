/* Kernels of the benchmark of queues. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(empty, (uint64_t) a, (uint64_t) b, (int64_t *) x, (int64_t *) y)
{
    (void)a, (void)b, (void)x, (void)y;
}

/* In the place of empty where launches are counted. They are in order, and none runs beside another. */
REX_DEVICE_KERNEL(counting, (int64_t) a, (int64_t) b, (int64_t *) x, (int64_t *) y)
{
    if (rex_thread(0) == 0) {
        *x += a;
        *y += b;
    }
}
