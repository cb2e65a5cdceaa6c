/* The host side of kernels.cu: every kernel, and what each must have written. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <rex.h>
#include <rex_kmp.h>

#include <stdio.h>
#include <string.h>

REX_KERNEL(one);
REX_KERNEL(two);
REX_KERNEL(three);
REX_KERNEL(arguments);
REX_KERNEL(environment);
REX_KERNEL(nothing);
REX_KERNEL(reductions);
REX_KERNEL(turned);
REX_KERNEL(names);

static int64_t launches = 7;
REX_GLOBAL(launches);

enum { NI = 7, NJ = 33, NK = 130, CELLS = NI * NJ * NK };

struct small {
    int16_t a, b;
    float c;
};

static int64_t cells[CELLS];
static int failures;

static int64_t number(int64_t value)
{
    return value;
}

/* COUNT numbers of the given bytes each, 8 for NULL, then the array. */
static void launch(void *key, int count, const int64_t *numbers, const int64_t *bytes, void *array, size_t size)
{
    void *column[8];
    int64_t sizes[8], types[8];
    int rows = 0;
    for (; rows < count; rows++) {
        column[rows] = rex_pack_literal_arg_bytes(&numbers[rows], sizeof numbers[rows]);
        sizes[rows] = bytes == NULL ? 8 : bytes[rows];
        types[rows] = 0x120;
    }
    if (array != NULL) {
        column[rows] = array;
        sizes[rows] = (int64_t)size;
        types[rows++] = 0x23;
    }
    struct __tgt_kernel_arguments args = {3, rows, column, column, sizes, types, NULL, NULL, 0, 0, {5, 1, 1}, {3, 1, 1}, 0};
    if (__tgt_target_kernel(-1, 5, 3, key, &args) != 0)
        failures++;
}

static void expect(const char *what, int64_t at, int64_t wanted)
{
    if (cells[at] == wanted)
        return;
    if (failures++ < 5)
        fprintf(stderr, "%s: cell %lld is %lld instead of %lld\n", what, (long long)at, (long long)cells[at], (long long)wanted);
}

static void loops(void)
{
    const int64_t n[] = {NI, NJ, NK}, all[] = {CELLS}, flat[] = {NI * NJ, NK};
    launch(REX_KERNEL_ID(three), 3, n, NULL, cells, sizeof cells);
    for (int64_t i = 0; i < NI; i++)
        for (int64_t j = 0; j < NJ; j++)
            for (int64_t k = 0; k < NK; k++)
                expect("three", (i * NJ + j) * NK + k, 1000000 * i + 1000 * j + k);
    for (int64_t i = 0; i < CELLS; i++)
        cells[i] = 0;
    launch(REX_KERNEL_ID(two), 2, flat, NULL, cells, sizeof cells);
    for (int64_t i = 0; i < CELLS; i++)
        expect("two", i, 1000 * (i / NK) + i % NK);
    for (int64_t i = 0; i < CELLS; i++)
        cells[i] = 0;
    launch(REX_KERNEL_ID(one), 1, all, NULL, cells, sizeof cells);
    launch(REX_KERNEL_ID(environment), 1, all, NULL, cells, sizeof cells);
    for (int64_t i = 0; i < CELLS; i++)
        expect("one, then environment", i, 1);
    launch(REX_KERNEL_ID(nothing), 0, NULL, NULL, NULL, 0);
}

static void values(void)
{
    int32_t i = -5;
    float f = 1.5f;
    double d = -2.25, out[5] = {0, 0, 0, 0, 0};
    struct small s = {3, 4, 0.5f};
    int64_t bits[] = {number((int64_t)(uintptr_t)rex_pack_literal_arg_bytes(&i, sizeof i)),
                      number((int64_t)(uintptr_t)rex_pack_literal_arg_bytes(&f, sizeof f)),
                      number((int64_t)(uintptr_t)rex_pack_literal_arg_bytes(&d, sizeof d)),
                      number((int64_t)(uintptr_t)rex_pack_literal_arg_bytes(&s, sizeof s))};
    const double wanted[] = {-5, 1.5, -2.25, 7.5, 100};
    const int64_t bytes[] = {sizeof i, sizeof f, sizeof d, sizeof s};
    launch(REX_KERNEL_ID(arguments), 4, bits, bytes, out, sizeof out);
    for (int at = 0; at < 5; at++)
        if (out[at] < wanted[at] || out[at] > wanted[at]) {
            fprintf(stderr, "argument %d: %g instead of %g\n", at, out[at], wanted[at]);
            failures++;
        }
}

/* Six values of a type at the place AT: before, and then as they must be for N indices. */
#define BEFORE(type, at, n)                         \
    do {                                            \
        const type six[6] = {0, 100, 0, 7, 100, 0}; \
        memcpy(out + 6 * (at), six, sizeof six);    \
    } while (0)
#define BEHIND(type, at, n)                                                                     \
    do {                                                                                        \
        const type six[6] = {(type)((type)(n) * ((n) - 1) / 2), 1, 999, 7 + (n), 5, ((n) - 1) / 2}; \
        if (memcmp(out + 6 * (at), six, sizeof six) != 0) {                                     \
            fprintf(stderr, "reductions of " #type "\n");                                       \
            failures++;                                                                         \
        }                                                                                       \
    } while (0)
#define ALL(what)                           \
    do {                                    \
        what(int, 0, CELLS);                \
        what(unsigned, 1, CELLS);           \
        what(long, 2, CELLS);               \
        what(unsigned long, 3, CELLS);      \
        what(long long, 4, CELLS);          \
        what(unsigned long long, 5, CELLS); \
        what(double, 6, CELLS);             \
        what(float, 7, CELLS / 10);         \
    } while (0)

static void reductions(void)
{
    const int64_t all[] = {CELLS}, rows[] = {NI * NJ};
    double out[48];
    ALL(BEFORE);
    launch(REX_KERNEL_ID(reductions), 1, all, NULL, out, sizeof out);
    ALL(BEHIND);
    for (int64_t i = 0; i < CELLS; i++)
        cells[i] = i;
    launch(REX_KERNEL_ID(turned), 1, rows, NULL, cells, sizeof cells);
    for (int64_t i = 0; i < CELLS; i++)
        expect("turned", i, i / NK * NK + NK - 1 - i % NK);
}

static void names(void)
{
    const int64_t numbers[] = {50, 3, 7, 1000000};
    int64_t out[3] = {0, 100, 0};
    launch(REX_KERNEL_ID(names), 4, numbers, NULL, out, sizeof out);
    if (out[0] != 50 * (3 + 7 + 10 + 100) || out[1] != -4 || out[2] != 3 - 7 + 10 * 100 + 1000000) {
        fprintf(stderr, "names: %lld %lld %lld\n", (long long)out[0], (long long)out[1], (long long)out[2]);
        failures++;
    }
}

int main(void)
{
    if (rex_offload_init() != 0)
        return 1;
    loops();
    values();
    reductions();
    names();
    return failures != 0;
}
