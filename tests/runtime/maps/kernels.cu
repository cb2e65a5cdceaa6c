/*
 * Kernels that change what a row brings, so that the test sees where it came from and where it goes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "shapes.h"

REX_DEVICE_KERNEL(add, (int64_t) lower, (int64_t) end, (int64_t) by, (int64_t *) x)
{
    REX_FOR(i, end) {
        if (i >= lower)
            x[i] += by;
    }
}

REX_DEVICE_KERNEL(address, (uint64_t *) to, (const void *) pointer)
{
    *to = (uint64_t)(uintptr_t)pointer;
}

REX_DEVICE_KERNEL(distance, (int64_t *) to, (const int64_t *) from, (const int64_t *) pointer)
{
    *to = pointer - from;
}

/* Through its own memory of two sizes, to the sum of what it found there. */
REX_DEVICE_KERNEL(own, (struct full *) small, (struct big *) large, (int64_t *) scratch, (int64_t *) sum)
{
    int64_t total = small->first + (int64_t)small->second;
    for (int i = 0; i < 200; i++)
        total += large->number[i];
    scratch[0] = total;
    small->first = -1;
    large->number[0] = -1;
    *sum = scratch[0];
}

REX_DEVICE_KERNEL(pointees, (int64_t **) first, (int64_t **) second)
{
    (*first)[0] += 1;
    (*second)[2] += 2;
}
