/*
 * Kernels that write back what they received: values, and the content of what is behind an address,
 * which so is seen to be the device's address of the right data.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/kernel.h>

#include "report.h"

typedef struct report report;

REX_DEVICE void enter(report *to, uint64_t environment)
{
#if REX_ON_GPU
    atomicAdd((unsigned long long *)&to->ran, 1ull);
#else
    to->ran++;
#endif
    if (rex_team(0) + rex_team(1) + rex_team(2) + rex_thread(0) + rex_thread(1) + rex_thread(2) != 0)
        return;
    to->calls++;
    to->environment = environment;
    for (int d = 0; d < 3; d++) {
        to->teams[d] = rex_num_teams(d);
        to->threads[d] = rex_num_threads(d);
    }
}

#define PLAIN_ENVIRONMENT 0
#define ENV_ENVIRONMENT (uint64_t)(uintptr_t)rex_environment

/* Every thread writes the same words. */
REX_DEVICE void write_back(report *to, uint64_t first, const uint64_t *second, uint64_t third)
{
    to->arguments[1] = first;
    to->arguments[2] = *second;
    to->arguments[3] = third;
}

REX_DEVICE_KERNEL(plain, (report *) to, (uint64_t) first, (const uint64_t *) second,
                  (uint64_t) third)
{
    enter(to, PLAIN_ENVIRONMENT);
    write_back(to, first, second, third);
}

REX_DEVICE_KERNEL_ENV(env, (report *) to, (uint64_t) first, (const uint64_t *) second,
                      (uint64_t) third)
{
    enter(to, ENV_ENVIRONMENT);
    write_back(to, first, second, third);
}

/* A kernel under a name of its own, and one without a signature, with all else that rex/kernel.h
 * gives one. */
REX_DEVICE_BODY(collector__, (report *) to);
#if REX_ON_GPU
extern "C" __global__ void collector(uint64_t to)
#else
REX_DEVICE_LINKAGE void collector(uint64_t to);
REX_DEVICE_ENTRY(collector, &collector, 0)
REX_DEVICE_CALL(collector, collector__, (report *) to)
void collector(uint64_t to)
#endif
{
    collector__body__((void *)0, (report *)(uintptr_t)to);
}
REX_DEVICE_BODY(collector__, (report *) to)
{
    enter(to, PLAIN_ENVIRONMENT);
}

/* How much dynamic shared memory a block has beside 2500 words of the kernel's own; the last words of both are written and read. */
REX_DEVICE_KERNEL_ENV(shared_memory, (report *) to)
{
    enter(to, ENV_ENVIRONMENT);
#if REX_ON_GPU
    __shared__ volatile uint64_t own[2500];
    extern __shared__ uint64_t dynamic[];
    uint32_t size;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    volatile uint64_t *last = &dynamic[size / sizeof *dynamic - 1];
    if (size >= sizeof *last)
        *last = size;
    own[2499] = size / 2;
    to->arguments[1] = size >= sizeof *last ? *last : size;
    to->arguments[2] = own[2499];
#endif
}
