/*
 * Every word of CUDA's and of <math.h> that rex/clang.h has for a GPU, and nvcc of its own.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include <assert.h>

#include "words.h"

REX_DEVICE_KERNEL(exact, (int64_t) count, (const double *) x, (const double *) y, (const double *) z,
                  (double *) out)
{
    REX_FOR(i, count)
        PUT_EXACT(out + EXACT * i, x[i], y[i], z[i]);
}

#if REX_ON_GPU
/* One team of LANES threads. */
REX_DEVICE_KERNEL(together, (int *) word, (unsigned long long *) wide, (double *) sums, (double *) out)
{
    REX_SHARED double turned[LANES];
    const unsigned all = 0xffffffffu;
    int i = (int)threadIdx.x, lane = i % warpSize;
    float single = (float)i;
    assert(i < LANES && blockDim.x == LANES && gridDim.x == 1 && blockIdx.x == 0);
    out[i] = __shfl_down_sync(all, 1.5 * i, 1);
    out[LANES + i] = (double)__shfl_sync(all, (long long)i << 40, 5);
    out[2 * LANES + i] = __shfl_up_sync(all, i, 2);
    out[3 * LANES + i] = __shfl_xor_sync(all, single, 3, 8);
    turned[i] = i;
    __syncthreads();
    out[4 * LANES + i] = turned[LANES - 1 - i];
    double *rest = out + 5 * LANES;
    unsigned odd = __ballot_sync(all, i & 1);
    int any = __any_sync(all, i == 40), every = __all_sync(all, i < 33);
    if (lane == 0) {
        rest[i / 32] = odd, rest[2 + i / 32] = any, rest[4 + i / 32] = every;
        rest[6 + i / 32] = __popc(odd) + 100 * __popcll(odd);
        rest[8 + i / 32] = __clz(i + 1) + 100 * __clzll(i + 1) + 10000 * __ffs(i + 8) + 1000000 * __ffsll(i + 8);
        rest[10 + i / 32] = __clz(0) + __clzll(0);
        rest[12 + i / 32] = __activemask() == 1 || __activemask() == all;
        rest[14 + i / 32] = min(i, 3) + 100 * max(i, 3) + min(0.5, 1.0) + max(2.0f, 1.0f);
    }
    atomicAdd(&word[0], i);
    atomicSub(&word[1], i);
    atomicMin(&word[2], i - 10);
    atomicMax(&word[3], i);
    atomicAnd(&word[4], ~(1 << lane));
    atomicOr(&word[5], 1 << lane);
    atomicXor(&word[6], 3 * i);
    if (i == 0)
        word[7] += atomicExch(&word[8], 7);
    for (int seen = __ldg(&word[9]), last = seen - 1; seen != last; seen = atomicCAS(&word[9], last, last + 2))
        last = seen;
    atomicAdd(&wide[0], 1ull << 33);
    atomicMax(&wide[1], (unsigned long long)i << 40);
    atomicAdd(&sums[0], 0.5);
    atomicAdd((float *)&sums[1], 1.0f);
    __syncwarp();
    __threadfence_block();
    __threadfence();
    __threadfence_system();
    char bytes[24];
    memset(bytes, 3, sizeof bytes);
    memcpy(bytes + 16, bytes, 8);
    if (i == 0)
        rest[16] = bytes[1 + word[8] % 2] + bytes[16 + word[8] % 8];
}
#else
REX_DEVICE_KERNEL(together, (int *) word, (unsigned long long *) wide, (double *) sums, (double *) out)
{
    (void)word, (void)wide, (void)sums, (void)out;
}
#endif
