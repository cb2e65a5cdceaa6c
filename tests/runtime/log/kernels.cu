/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(twice, (int64_t *) values, (int64_t) count)
{
    if (rex_team(0) + rex_thread(0) == 0)
        for (int64_t i = 0; i < count; i++)
            values[i] *= 2;
}
