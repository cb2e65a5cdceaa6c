/* A kernel that counts in a device global. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_GLOBAL(int64_t, counter) = 100;

REX_DEVICE_KERNEL(count, (int64_t) by)
{
    counter += by;
}

REX_DEVICE_KERNEL(increment, (int64_t *) value)
{
    *value += 1;
}
