/* calls.cu - a kernel that calls the function of called.cu.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>
#if REX_ON_GPU
__device__ double twice(double x);
#else
double twice(double x);
#endif
REX_DEVICE_KERNEL(calls, (double *) x)
{
    REX_FOR(i, 2)
        x[i] = twice(x[i]);
}
