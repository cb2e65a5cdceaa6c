/*
 * Lesson 6, the device side: one kernel for all three ways to map its lists.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "list.h"

/* sums[i] becomes the sum of list i. */
REX_DEVICE_KERNEL(sum_lists, (int64_t) n, (const struct list *) lists, (double *) sums)
{
    REX_FOR(i, n) {
        double sum = 0.0;
        for (int64_t k = 0; k < lists[i].count; k++)
            sum += lists[i].values[k];
        sums[i] = sum;
    }
}
