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

/* One block that is busy for so many turns of a loop. */
REX_DEVICE_KERNEL(turn, (int64_t) turns, (int64_t *) x)
{
    int64_t value = *x;
    for (int64_t i = 0; i < turns; i++)
        value = value * 6364136223846793005 + 1442695040888963407;
    *x = value;
}
