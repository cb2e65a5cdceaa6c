/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(square, (int64_t) value, (int64_t *) result)
{
    if (rex_team(0) + rex_thread(0) == 0)
        *result = value * value;
}
