/* probe.cu - shows that kernels run. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(probe, (long *) value)
{
    *value = 42;
}
