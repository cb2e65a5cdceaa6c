/*
 * pathfinder, the device side: one step down the grid. See pathfinder.c.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* `now` has the costs of the cheapest ways to row `row - 1`; `next` receives those to row `row`. */
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
