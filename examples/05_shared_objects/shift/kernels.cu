/*
 * Lesson 5, the kernel of libshift.so. rules.mk makes shift.cubin and shift_host.so of it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(shift, rex_arg count, rex_arg amount, double *x)
{
    REX_FOR(i, rex_arg_int(count))
        x[i] += rex_arg_double(amount);
}
