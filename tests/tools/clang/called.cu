/* called.cu - the function that calls.cu calls.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>
#if REX_ON_GPU
__device__
#endif
double twice(double x)
{
    return 2 * x;
}
