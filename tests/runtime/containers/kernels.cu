/* A kernel whose result tells which image it came from. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

#ifndef FACTOR
#define FACTOR 1
#endif

REX_DEVICE_KERNEL(multiply, (int64_t) value, (int64_t *) product)
{
    if (rex_team(0) + rex_thread(0) == 0)
        *product = FACTOR * value;
}
