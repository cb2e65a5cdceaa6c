/*
 * Lesson 2, the device side: the next generation of a row of cells, whose ends are neighbours.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(generation, rex_arg count, const int32_t *now, int32_t *next)
{
    int64_t n = rex_arg_int(count);
    REX_FOR(i, n) {
        int left = now[(i + n - 1) % n], right = now[(i + 1) % n];
        /* Rule 110: its bits say what follows from each of the eight neighbourhoods. */
        next[i] = (110 >> (4 * left + 2 * now[i] + right)) & 1;
    }
}
