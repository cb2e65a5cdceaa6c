/* A kernel that leaves the memory of its launch alone. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(nothing, (uint64_t) n)
{
    (void)n;
}
