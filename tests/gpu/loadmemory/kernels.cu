/* One small kernel: the image takes little beside what loading takes. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(small, (int64_t) n, (int64_t *) cells)
{
    REX_FOR(i, n)
        cells[i] += i;
}
