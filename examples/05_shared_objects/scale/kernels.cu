/*
 * Lesson 5, the kernel of libscale.so. rules.mk makes scale.cubin and scale_host.so of it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(scale, rex_arg count, rex_arg factor, double *x)
{
    REX_FOR(i, rex_arg_int(count))
        x[i] *= rex_arg_double(factor);
}
