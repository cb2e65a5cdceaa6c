/*
 * Lesson 11, the kernel of libshift.so. rules.mk makes shift.cubin and shift_host.so of it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(shift, (int64_t) count, (double) amount, (double *) x)
{
    REX_FOR(i, count)
        x[i] += amount;
}
