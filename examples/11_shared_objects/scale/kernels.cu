/*
 * Lesson 11, the kernel of libscale.so. rules.mk makes scale.cubin and scale_host.so of it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(scale, (int64_t) count, (double) factor, (double *) x)
{
    REX_FOR(i, count)
        x[i] *= factor;
}
