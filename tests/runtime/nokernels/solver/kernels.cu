/* The kernel of the shared object. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(triple, (int64_t) count, (int64_t *) x)
{
    REX_FOR(i, count)
        x[i] *= 3;
}
