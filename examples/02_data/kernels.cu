/*
 * Lesson 2, the device side: the next generation of a row of cells. The two ends are neighbours.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(generation, (int64_t) n, (const int32_t *) now, (int32_t *) next)
{
    REX_FOR(i, n) {
        int left = now[(i + n - 1) % n], right = now[(i + 1) % n];
        /* Rule 110: bit k is the next state of a cell whose neighbourhood reads as the number k. */
        next[i] = (110 >> (4 * left + 2 * now[i] + right)) & 1;
    }
}
