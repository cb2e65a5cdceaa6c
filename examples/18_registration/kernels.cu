/*
 * Lesson 18, the device side: the kernel "shift__kernel__" of the host's entry.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(shift, (int64_t) n, (double) a, (double *) y)
{
    REX_FOR(i, n)
        y[i] += a;
}
