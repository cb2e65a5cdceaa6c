/*
 * globals.cu - an image with a device global, for the walk.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

REX_DEVICE_GLOBAL(int64_t, walk_global) = 7;

REX_DEVICE_KERNEL(walk_bump, (int64_t *) y)
{
    REX_FOR(i, 1)
        y[i] += walk_global;
}
