/*
 * Kernels that change what a row brings, so that the test sees where it came from and where it goes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "shapes.h"

REX_DEVICE_KERNEL(add, rex_arg lower, rex_arg end, rex_arg by, int64_t *x)
{
    REX_FOR(i, rex_arg_int(end)) {
        if (i >= rex_arg_int(lower))
            x[i] += rex_arg_int(by);
    }
}

REX_DEVICE_KERNEL(copy, rex_arg count, const int64_t *from, int64_t *to)
{
    REX_FOR(i, rex_arg_int(count))
        to[i] = from[i];
}

/* The words as they came. */
REX_DEVICE_KERNEL(words, uint64_t *to, rex_arg a, rex_arg b, rex_arg c, rex_arg d, rex_arg e, rex_arg f, rex_arg g, rex_arg h)
{
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
    to[4] = e;
    to[5] = f;
    to[6] = g;
    to[7] = h;
}

REX_DEVICE_KERNEL(address, uint64_t *to, const void *pointer)
{
    *to = (uint64_t)(uintptr_t)pointer;
}

/* Through its own memory of two sizes, to the sum of what it found there. */
REX_DEVICE_KERNEL(own, struct full *small, struct big *large, int64_t *scratch, int64_t *sum)
{
    int64_t total = small->first + (int64_t)small->second;
    for (int i = 0; i < 200; i++)
        total += large->number[i];
    scratch[0] = total;
    small->first = -1;
    large->number[0] = -1;
    *sum = scratch[0];
}

REX_DEVICE_KERNEL(members, struct outer *outer)
{
    for (int64_t i = 0; i < outer->inner.count; i++)
        outer->inner.values[i] += outer->bonus;
    outer->bonus++;
}

REX_DEVICE_KERNEL(chain, struct outer *outer)
{
    for (int64_t i = 0; i < outer->next->count; i++)
        outer->next->values[i] *= 3;
}

REX_DEVICE_KERNEL(pointees, int64_t **first, int64_t **second)
{
    (*first)[0] += 1;
    (*second)[2] += 2;
}
