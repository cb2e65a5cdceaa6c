/*
 * A kernel that divides each row of a matrix by its sum, in place of a CUBIN that Triton compiles.
 *
 * The example does not need Triton: the kernel is CUDA C in the form of Triton's CUBINs. It has C
 * linkage, and the image has no entry. A block works on one row, with num_warps * 32 threads. Its
 * shared memory is dynamic: "shared" bytes, more than CUDA's default of 48 KB. The last parameter
 * is scratch memory, which Triton adds. kernel.json has the fields of Triton's JSON files, with
 * values for this kernel. Triton names a kernel after its Python function. This name ends in
 * kernel__, like names of rex/kernel.h, which defines the version for the CPU.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#if REX_ON_GPU
extern __shared__ float global_smem[];

extern "C" __global__ void __launch_bounds__(128)
    normalize_kernel__(float *out, const float *in, int32_t columns, void *global_scratch)
{
    (void)global_scratch;
    float *row = global_smem, *sums = global_smem + columns, sum = 0;
    int64_t first = (int64_t)blockIdx.x * columns;
    int thread = (int)threadIdx.x;
    for (int i = thread; i < columns; i += 128)
        sum += row[i] = in[first + i];
    sums[thread] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (thread < half)
            sums[thread] += sums[thread + half];
        __syncthreads();
    }
    for (int i = thread; i < columns; i += 128)
        out[first + i] = row[i] / sums[0];
}
#else
#include "matrix.h"

/* The version for the CPU runs once for the whole grid. */
REX_DEVICE_KERNEL_STEM(normalize_, (float *) out, (const float *) in, (int32_t) columns,
                       (void *) global_scratch)
{
    (void)global_scratch;
    for (int64_t first = 0; first < (int64_t)ROWS * columns; first += columns) {
        float sum = 0;
        for (int i = 0; i < columns; i++)
            sum += in[first + i];
        for (int i = 0; i < columns; i++)
            out[first + i] = in[first + i] / sum;
    }
}
#endif
