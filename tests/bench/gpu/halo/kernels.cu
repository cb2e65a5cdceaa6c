/* A kernel of the benchmark of halos, which needs an image, and launches nothing. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_KERNEL(nothing, void)
{
}
