/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

#define KERNEL(...) REX_DEVICE_KERNEL(__VA_ARGS__) /* once NAME is expanded */

/* result = value * FACTOR */
KERNEL(NAME, (int64_t) value, (int64_t *) result)
{
    if (rex_team(0) + rex_thread(0) == 0)
        *result = value * FACTOR;
}
