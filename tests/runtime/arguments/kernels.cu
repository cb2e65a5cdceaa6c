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

/* Every thread writes the same words. */
#define W(n) to->arguments[n] = a##n;
#define R(n) to->arguments[n] = *a##n;

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

#define PARAMETERS_7 report *to, rex_arg a1, const uint64_t *a2, rex_arg a3, const uint64_t *a4, rex_arg a5, \
    const uint64_t *a6
#define WRITE_7 W(1) R(2) W(3) R(4) W(5) R(6)
DEFINE(REX_DEVICE_KERNEL, plain7, PARAMETERS_7)
{
    enter(to, PLAIN_ENVIRONMENT);
    WRITE_7
}
DEFINE(REX_DEVICE_KERNEL_ENV, env7, PARAMETERS_7)
{
    enter(to, ENV_ENVIRONMENT);
    WRITE_7
}

#define PARAMETERS_64 report *to, rex_arg a1, const uint64_t *a2, rex_arg a3, const uint64_t *a4, rex_arg a5, \
    const uint64_t *a6, rex_arg a7, const uint64_t *a8, rex_arg a9, const uint64_t *a10, rex_arg a11, \
    const uint64_t *a12, rex_arg a13, const uint64_t *a14, rex_arg a15, const uint64_t *a16, rex_arg a17, \
    const uint64_t *a18, rex_arg a19, const uint64_t *a20, rex_arg a21, const uint64_t *a22, rex_arg a23, \
    const uint64_t *a24, rex_arg a25, const uint64_t *a26, rex_arg a27, const uint64_t *a28, rex_arg a29, \
    const uint64_t *a30, rex_arg a31, const uint64_t *a32, rex_arg a33, const uint64_t *a34, rex_arg a35, \
    const uint64_t *a36, rex_arg a37, const uint64_t *a38, rex_arg a39, const uint64_t *a40, rex_arg a41, \
    const uint64_t *a42, rex_arg a43, const uint64_t *a44, rex_arg a45, const uint64_t *a46, rex_arg a47, \
    const uint64_t *a48, rex_arg a49, const uint64_t *a50, rex_arg a51, const uint64_t *a52, rex_arg a53, \
    const uint64_t *a54, rex_arg a55, const uint64_t *a56, rex_arg a57, const uint64_t *a58, rex_arg a59, \
    const uint64_t *a60, rex_arg a61, const uint64_t *a62, rex_arg a63
#define WRITE_64 W(1) R(2) W(3) R(4) W(5) R(6) W(7) R(8) W(9) R(10) W(11) R(12) W(13) R(14) W(15) R(16) W(17) \
    R(18) W(19) R(20) W(21) R(22) W(23) R(24) W(25) R(26) W(27) R(28) W(29) R(30) W(31) R(32) W(33) R(34) W(35) \
    R(36) W(37) R(38) W(39) R(40) W(41) R(42) W(43) R(44) W(45) R(46) W(47) R(48) W(49) R(50) W(51) R(52) W(53) \
    R(54) W(55) R(56) W(57) R(58) W(59) R(60) W(61) R(62) W(63)
DEFINE(REX_DEVICE_KERNEL, plain64, PARAMETERS_64)
{
    enter(to, PLAIN_ENVIRONMENT);
    WRITE_64
}
DEFINE(REX_DEVICE_KERNEL_ENV, env64, PARAMETERS_64)
{
    enter(to, ENV_ENVIRONMENT);
    WRITE_64
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
