/*
 * pathfinder_raw, the device side, with the names of generated code.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* Takes one step down: adds the cheapest of the three cells above to the cell's own cost. */
REX_DEVICE_KERNEL_STEM(OUT__1__walk__41__, (int32_t) t, (int32_t) columns, (const int32_t *) wall,
                       (const int32_t *) src, (int32_t *) dst)
{
    int64_t count = columns, row = t + 1;
    REX_FOR(n, count) {
        int32_t best = src[n];
        if (n > 0 && src[n - 1] < best)
            best = src[n - 1];
        if (n < count - 1 && src[n + 1] < best)
            best = src[n + 1];
        dst[n] = wall[row * count + n] + best;
    }
}
