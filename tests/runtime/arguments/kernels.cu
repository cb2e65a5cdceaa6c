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

/* Every thread writes the same words. The parameters are a01, a02 and so on to aff and a100, by the number of the argument. */
#define W(tens, ones) to->arguments[0x##tens##ones] = a##tens##ones;
#define R(tens, ones) to->arguments[0x##tens##ones] = *a##tens##ones;
#define V(tens, ones) rex_arg a##tens##ones
#define M(tens, ones) const uint64_t *a##tens##ones

#define PLAIN_ENVIRONMENT 0
#define ENV_ENVIRONMENT (uint64_t)(uintptr_t)rex_environment

/* Parameters that are macros themselves. */
#define DEFINE(kernel, name, ...) kernel(name, __VA_ARGS__)

REX_DEVICE_GLOBAL(report, kept);

REX_DEVICE_KERNEL(plain0, void)
{
    enter(&kept, PLAIN_ENVIRONMENT);
}
REX_DEVICE_KERNEL_ENV(env0)
{
    enter(&kept, ENV_ENVIRONMENT);
}

REX_DEVICE_KERNEL(plain1, report *to)
{
    enter(to, PLAIN_ENVIRONMENT);
}
REX_DEVICE_KERNEL_ENV(env1, report *to)
{
    enter(to, ENV_ENVIRONMENT);
}

#define PARAMETERS_4 report *to, V(0, 1), M(0, 2), V(0, 3)
#define WRITE_4 W(0, 1) R(0, 2) W(0, 3)
#define PARAMETERS_7 PARAMETERS_4, M(0, 4), V(0, 5), M(0, 6)
#define WRITE_7 WRITE_4 R(0, 4) W(0, 5) R(0, 6)
#define PARAMETERS_16 \
    PARAMETERS_7, V(0, 7), M(0, 8), V(0, 9), M(0, a), V(0, b), M(0, c), V(0, d), M(0, e), V(0, f)
#define WRITE_16 WRITE_7 W(0, 7) R(0, 8) W(0, 9) R(0, a) W(0, b) R(0, c) W(0, d) R(0, e) W(0, f)
#define SIXTEEN(tens) \
    M(tens, 0), V(tens, 1), M(tens, 2), V(tens, 3), M(tens, 4), V(tens, 5), M(tens, 6), V(tens, 7), M(tens, 8), \
        V(tens, 9), M(tens, a), V(tens, b), M(tens, c), V(tens, d), M(tens, e), V(tens, f)
#define WRITE_SIXTEEN(tens) \
    R(tens, 0) W(tens, 1) R(tens, 2) W(tens, 3) R(tens, 4) W(tens, 5) R(tens, 6) W(tens, 7) R(tens, 8) W(tens, 9) \
    R(tens, a) W(tens, b) R(tens, c) W(tens, d) R(tens, e) W(tens, f)
#define PARAMETERS_64 PARAMETERS_16, SIXTEEN(1), SIXTEEN(2), SIXTEEN(3)
#define WRITE_64 WRITE_16 WRITE_SIXTEEN(1) WRITE_SIXTEEN(2) WRITE_SIXTEEN(3)
#define PARAMETERS_256 \
    PARAMETERS_64, SIXTEEN(4), SIXTEEN(5), SIXTEEN(6), SIXTEEN(7), SIXTEEN(8), SIXTEEN(9), SIXTEEN(a), SIXTEEN(b), \
        SIXTEEN(c), SIXTEEN(d), SIXTEEN(e), SIXTEEN(f)
#define WRITE_256 \
    WRITE_64 WRITE_SIXTEEN(4) WRITE_SIXTEEN(5) WRITE_SIXTEEN(6) WRITE_SIXTEEN(7) WRITE_SIXTEEN(8) WRITE_SIXTEEN(9) \
    WRITE_SIXTEEN(a) WRITE_SIXTEEN(b) WRITE_SIXTEEN(c) WRITE_SIXTEEN(d) WRITE_SIXTEEN(e) WRITE_SIXTEEN(f)
#define PARAMETERS_257 PARAMETERS_256, M(10, 0)
#define WRITE_257 WRITE_256 R(10, 0)

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
BOTH(7)
BOTH(16)
BOTH(64)
BOTH(256)
BOTH(257)

/* A kernel under a name of its own, with all else that rex/kernel.h gives one. */
#if REX_ON_GPU
extern "C" __global__ void collector(report *to)
#else
REX_DEVICE_LINKAGE void collector(report *to);
REX_DEVICE_ENTRY(collector, &collector, 0)
REX_DEVICE_CALL(collector, 0, report *to)
void collector(report *to)
#endif
{
    enter(to, PLAIN_ENVIRONMENT);
}

/* Scalars as their own types, through the accessors, each written back as a word. */
REX_DEVICE_KERNEL(scalars, report *to, rex_arg byte, rex_arg half, rex_arg word, rex_arg whole, rex_arg single, rex_arg twice, rex_arg pair)
{
    struct {
        int16_t first;
        uint8_t second;
    } parts;
    double d = rex_arg_double(twice) * 2;
    float f = rex_arg_float(single) * 2;
    uint32_t float_bits;
    enter(to, PLAIN_ENVIRONMENT);
    to->arguments[1] = (uint64_t)(int64_t)(int8_t)byte;
    to->arguments[2] = (uint64_t)(int64_t)(int16_t)half;
    to->arguments[3] = (uint64_t)(int64_t)rex_arg_int32(word);
    to->arguments[4] = (uint64_t)rex_arg_int(whole);
    memcpy(&float_bits, &f, sizeof f);
    to->arguments[5] = float_bits;
    memcpy(&to->arguments[6], &d, sizeof d);
    REX_ARG_COPY(parts, pair);
    to->arguments[7] = (uint64_t)(int64_t)parts.first;
    to->arguments[8] = parts.second;
    /* The words as they came: unused bytes are 0. */
    to->arguments[9] = byte;
    to->arguments[10] = half;
    to->arguments[11] = word;
    to->arguments[12] = single;
}

/* How much dynamic shared memory a block has beside 2500 words of the kernel's own; the last words of both are written and read. */
REX_DEVICE_KERNEL_ENV(shared_memory, report *to)
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
