/*
 * Lesson 3, the device side. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(scale, (int64_t) count, (double) factor, (double *) x)
{
    REX_FOR(i, count)
        x[i] *= factor;
}
