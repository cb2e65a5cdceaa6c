/* The kernel of the test of launch attributes. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex/kernel.h>

/*
 * All blocks add to `met`. If the launch is cooperative they wait for each other, so that it ends only if all are resident at once. `facts`
 * gets the size of the clusters. A run of the kernel on the CPU, as on the fake GPU, has no clusters.
 */
REX_DEVICE_KERNEL(look, (int64_t) addend, (int64_t) waits, (int64_t *) met, (int64_t *) facts)
{
#if REX_ON_GPU
    unsigned cluster[3] = {0, 0, 0};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(cluster[0]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(cluster[1]));
    asm volatile("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(cluster[2]));
#endif
    if (threadIdx.x == 0) {
        unsigned long long blocks = (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
        unsigned long long *count = (unsigned long long *)met;
        unsigned long long before = atomicAdd(count, (unsigned long long)addend), round = before / (blocks * addend) + 1;
        while (waits && atomicAdd(count, 0ull) < round * blocks * addend) {
        }
        if (before % (blocks * addend) == 0)
            for (int k = 0; k < 3; k++)
                facts[k] = cluster[k];
    }
#else
    (void)waits;
    REX_FOR(i, 1)
    {
        met[0] += addend;
        for (int k = 0; k < 3; k++)
            facts[k] = 0;
    }
#endif
}
