/*
 * kernels.cu - what the walk launches: sums of whole numbers, so that a model of the arrays says what comes out.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

/* Both forms, of which LLVM 18 runs the second alone. */
REX_DEVICE_KERNEL(walk_add, rex_arg n, rex_arg a, const int64_t *x, int64_t *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] += rex_arg_int(a) * x[i];
}

REX_DEVICE_KERNEL(walk_nothing, void)
{
}

REX_DEVICE_KERNEL_ENV(walk_set, rex_arg n, rex_arg a, int64_t *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] = rex_arg_int(a) + i;
}

REX_DEVICE_GLOBAL(int64_t, walk_global) = 7;
