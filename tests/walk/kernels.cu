/*
 * kernels.cu - what the walk launches: sums of whole numbers, so that a model of the arrays says what comes out.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* Both forms, of which LLVM 18 runs the second alone. */
REX_DEVICE_KERNEL(walk_add, (int64_t) n, (int64_t) a, (const int64_t *) x, (int64_t *) y)
{
    REX_FOR(i, n)
        y[i] += a * x[i];
}

REX_DEVICE_KERNEL(walk_nothing, void)
{
}

REX_DEVICE_KERNEL_ENV(walk_set, (int64_t) n, (int64_t) a, (int64_t *) y)
{
    REX_FOR(i, n)
        y[i] = a + i;
}

REX_DEVICE_GLOBAL(int64_t, walk_global) = 7;
