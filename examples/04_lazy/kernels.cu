/*
 * Lesson 4, the device side: a kernel with two values. Built with the program: `make`.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(count_up, rex_arg first, rex_arg count, int64_t *values)
{
    REX_FOR(i, rex_arg_int(count))
        values[i] = rex_arg_int(first) + i;
}
