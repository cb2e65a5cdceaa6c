/* kernels.cu - the kernel of hand.c.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>
REX_DEVICE_KERNEL(twice, (double *) x)
{
    REX_FOR(i, 100)
        x[i] *= 2;
}
