/*
 * Lesson 4, the device side: a kernel with two values. Built with the program: `make`.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(count_up, (int64_t) first, (int64_t) count, (int64_t *) values)
{
    REX_FOR(i, count)
        values[i] = first + i;
}
