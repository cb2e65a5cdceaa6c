/* more.cu - a second file of kernels.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>
REX_DEVICE_KERNEL(twice, (double *) x)
{
    REX_FOR(i, 1)
        x[i] *= FACTOR;
}
