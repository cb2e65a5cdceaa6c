/* The kernel of regions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(add, (int64_t) count, (int32_t) by, (int32_t *) x)
{
    REX_FOR(i, count)
        x[i] += by;
}
