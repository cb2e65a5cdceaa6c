/* One kernel and one global. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_GLOBAL(int64_t, offset) = 1000;

REX_DEVICE_KERNEL(add, (int64_t) amount, (int64_t *) sum)
{
    if (rex_team(0) + rex_thread(0) == 0)
        *sum += amount;
}
