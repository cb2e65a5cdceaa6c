/* Kernels of the tests of traces. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(scale, (int64_t) n, (const int64_t *) x, (int64_t *) y)
{
    REX_FOR(i, n)
        y[i] = 2 * x[i];
}

REX_DEVICE_KERNEL(add_one, (int64_t *) y)
{
    REX_FOR(i, 1)
        y[i] += 1;
}
