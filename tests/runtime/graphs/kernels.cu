/* Kernels of the tests of graphs. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

#include "../hold.h"

/* Each result depends on the one before it: order shows. */
REX_DEVICE_KERNEL(follow, rex_arg n, rex_arg addend, int64_t *value)
{
    REX_FOR(i, rex_arg_int(n))
        value[i] = (3 * value[i] + rex_arg_int(addend)) % 1000003;
}

REX_DEVICE_KERNEL(sum, rex_arg n, const int64_t *a, const int64_t *b, int64_t *result)
{
    REX_FOR(i, rex_arg_int(n))
        result[i] = a[i] + b[i];
}

/* Writes where there is no memory. */
REX_DEVICE_KERNEL(fault, rex_arg address)
{
    *(volatile int64_t *)(uintptr_t)rex_arg_int(address) = 1;
}
