/* Kernels of hand.c. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(link_fill, rex_arg n, rex_arg value, int64_t *x)
{
    REX_FOR(i, rex_arg_int(n))
        x[i] = rex_arg_int(value) + i;
}

REX_DEVICE_KERNEL(link_add, rex_arg n, const int64_t *x, int64_t *y)
{
    REX_FOR(i, rex_arg_int(n))
        y[i] += x[i];
}
