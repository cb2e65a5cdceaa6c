/*
 * Lesson 5, the program's own kernel. Built with the program: `make`.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(square, (int64_t) count, (double *) x)
{
    REX_FOR(i, count)
        x[i] *= x[i];
}
