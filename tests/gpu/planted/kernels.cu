/* Kernels with a fault each, which compute-sanitizer has to find. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

/* Writes far behind its memory. */
REX_DEVICE_KERNEL(astray, (int64_t) distance, (char *) memory)
{
    memory[distance] = 1;
}

/* Reads what nobody has written. */
REX_DEVICE_KERNEL(unwritten, (char *) memory)
{
    memory[1] = memory[0];
}

/* Threads of a block read what others write, with nothing between. */
REX_DEVICE_KERNEL(race, (int64_t *) out)
{
#if REX_ON_GPU
    __shared__ volatile int64_t cell[128];
    cell[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = cell[127 - threadIdx.x];
#else
    out[0] = 0;
#endif
}
