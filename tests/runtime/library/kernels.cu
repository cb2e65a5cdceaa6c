/* Kernels that a program finds by name. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

REX_DEVICE_GLOBAL(int64_t, calls) = 40;

REX_DEVICE_KERNEL(scale, (int32_t) n, (double) factor, (double *) x)
{
    REX_FOR(i, n)
        x[i] *= factor;
}

REX_DEVICE_KERNEL(count_call, (int64_t) by)
{
    if (rex_team(0) == 0 && rex_thread(0) == 0)
        calls += by;
}

#if REX_ON_GPU
/* As other compilers write kernels: parameters of 4 bytes beside 8, and shared memory whose size the launch says. Turns x round. */
extern "C" __global__ void narrow(int n, int first, float factor, double *x, int last)
{
    extern __shared__ double cells[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        cells[first + i] = x[i] * factor;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = cells[first + last - i];
}
#endif
