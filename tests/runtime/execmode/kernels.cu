/*
 * Kernels whose image says how LLVM 14 to 17 should launch them: as REX writes it, and as clang writes it for its generic mode.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#if REX_ON_GPU
extern "C" __device__ signed char with_zero__kernel___exec_mode = 0;
extern "C" __device__ signed char with_one__kernel___exec_mode = 1;
#endif

REX_DEVICE_KERNEL(with_zero, (int64_t) value, (int64_t *) out)
{
    out[0] = value;
    out[1] = rex_num_threads(0);
}

REX_DEVICE_KERNEL(with_one, (int64_t) value, (int64_t *) out)
{
    out[0] = value;
    out[1] = rex_num_threads(0);
}
