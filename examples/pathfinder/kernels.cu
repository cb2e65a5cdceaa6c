/*
 * pathfinder, the device side: one row further down. See pathfinder.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* `now` has the cheapest ways to the row before `row`; `next` receives those to it. */
REX_DEVICE_KERNEL(pathfinder_step, (int64_t) row, (int64_t) columns, (const int32_t *) cost,
                  (const int32_t *) now, (int32_t *) next)
{
    const int32_t *here = cost + row * columns;
    REX_FOR(i, columns) {
        int32_t best = now[i];
        if (i > 0 && now[i - 1] < best)
            best = now[i - 1];
        if (i < columns - 1 && now[i + 1] < best)
            best = now[i + 1];
        next[i] = here[i] + best;
    }
}
