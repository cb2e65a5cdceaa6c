/* kernels.cu - the kernel of program.c.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>
#ifdef GLOBAL
REX_DEVICE_GLOBAL(int64_t, factor) = 2;
#endif
REX_DEVICE_KERNEL(twice, (int64_t) n, (double *) x)
{
    REX_FOR(i, n)
        x[i] *= 2;
}
