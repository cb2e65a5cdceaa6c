/* The kernel of the test of launch attributes. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

/*
 * What the GPU knows of the launch. All blocks add to `met`, and wait for each other if the launch is cooperative: then the driver has made a
 * workspace for the grid, whose address is in two registers. A run of the kernel on the CPU, as on the fake GPU, sees no attributes.
 */
REX_DEVICE_KERNEL(look, (int64_t) addend, (int64_t *) met, (int64_t *) facts)
{
#if REX_ON_GPU
    unsigned low = 0, high = 0, cluster[3] = {0, 0, 0};
    asm volatile("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm volatile("mov.u32 %0, %%envreg2;" : "=r"(low));
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(cluster[0]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(cluster[1]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(cluster[2]));
#endif
    if (threadIdx.x == 0) {
        unsigned long long blocks = (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
        unsigned long long *count = (unsigned long long *)met;
        unsigned long long before = atomicAdd(count, (unsigned long long)addend), round = before / (blocks * addend) + 1;
        while ((low | high) != 0 && atomicAdd(count, 0ull) < round * blocks * addend) {
        }
        if (before % (blocks * addend) == 0) {
            facts[0] = (low | high) != 0;
            facts[1] = cluster[0], facts[2] = cluster[1], facts[3] = cluster[2];
        }
    }
#else
    REX_FOR(i, 1)
    {
        met[0] += addend;
        for (int k = 0; k < 4; k++)
            facts[k] = 0;
    }
#endif
}
