/*
 * Kernels that write back what they received.
 *
 * Argument 0 is where to; of the others the odd ones are values, and the even ones addresses of one word each, whose content is
 * written back: so a mapped argument is seen to be the device's address of the right data. Kernels without arguments write to a
 * device global.
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

/* Every thread writes the same words. The parameters are a01, a02 and so on to a3f, by the number of the argument. */
#define W(tens, ones) to->arguments[0x##tens##ones] = a##tens##ones;
#define R(tens, ones) to->arguments[0x##tens##ones] = *a##tens##ones;
#define V(tens, ones) (uint64_t) a##tens##ones
#define M(tens, ones) (const uint64_t *) a##tens##ones

#define PLAIN_ENVIRONMENT 0
#define ENV_ENVIRONMENT (uint64_t)(uintptr_t)rex_environment

/* Parameters that are macros themselves. */
#define DEFINE(kernel, name, ...) kernel(name, __VA_ARGS__)

REX_DEVICE_GLOBAL(report, kept);

REX_DEVICE_KERNEL(plain0, void)
{
    enter(&kept, PLAIN_ENVIRONMENT);
}
REX_DEVICE_KERNEL_ENV(env0, void)
{
    enter(&kept, ENV_ENVIRONMENT);
}

REX_DEVICE_KERNEL(plain1, (report *) to)
{
    enter(to, PLAIN_ENVIRONMENT);
}
REX_DEVICE_KERNEL_ENV(env1, (report *) to)
{
    enter(to, ENV_ENVIRONMENT);
}

#define PARAMETERS_4 (report *) to, FIRST_3
#define FIRST_3 V(0, 1), M(0, 2), V(0, 3)
#define WRITE_4 W(0, 1) R(0, 2) W(0, 3)
#define PARAMETERS_16 (report *) to, FIRST_15
#define FIRST_15 \
    FIRST_3, M(0, 4), V(0, 5), M(0, 6), V(0, 7), M(0, 8), V(0, 9), M(0, a), V(0, b), M(0, c), V(0, d), M(0, e), V(0, f)
#define WRITE_16 WRITE_4 R(0, 4) W(0, 5) R(0, 6) W(0, 7) R(0, 8) W(0, 9) R(0, a) W(0, b) R(0, c) W(0, d) R(0, e) W(0, f)
#define SIXTEEN(tens) \
    M(tens, 0), V(tens, 1), M(tens, 2), V(tens, 3), M(tens, 4), V(tens, 5), M(tens, 6), V(tens, 7), M(tens, 8), \
        V(tens, 9), M(tens, a), V(tens, b), M(tens, c), V(tens, d), M(tens, e), V(tens, f)
#define WRITE_SIXTEEN(tens) \
    R(tens, 0) W(tens, 1) R(tens, 2) W(tens, 3) R(tens, 4) W(tens, 5) R(tens, 6) W(tens, 7) R(tens, 8) W(tens, 9) \
    R(tens, a) W(tens, b) R(tens, c) W(tens, d) R(tens, e) W(tens, f)
#define PARAMETERS_64 (report *) to, FIRST_63
#define FIRST_63 FIRST_15, SIXTEEN(1), SIXTEEN(2), SIXTEEN(3)
#define WRITE_64 WRITE_16 WRITE_SIXTEEN(1) WRITE_SIXTEEN(2) WRITE_SIXTEEN(3)
/* plainN and envN, of N parameters. */
#define BOTH(count) \
    DEFINE(REX_DEVICE_KERNEL, plain##count, PARAMETERS_##count) \
    { \
        enter(to, PLAIN_ENVIRONMENT); \
        WRITE_##count \
    } \
    DEFINE(REX_DEVICE_KERNEL_ENV, env##count, PARAMETERS_##count) \
    { \
        enter(to, ENV_ENVIRONMENT); \
        WRITE_##count \
    }
BOTH(4)
BOTH(16)
BOTH(64)

/* A kernel under a name of its own, and one without a signature, with all else that rex/kernel.h gives one. */
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
