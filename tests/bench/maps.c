/*
 * maps.c - what a row of a map costs, under callgrind: written in braces, by REX_MAP(), and pushed when the program runs, directly and
 * through a mapper. Parts NAME-1 and NAME-2 differ by ROWS rows and nothing else.
 *
 * usage: maps ROWS
 *        maps --mapper ELEMENTS   prints the seconds that it takes to expand ELEMENTS elements of three rows each, the bytes of the map's
 *                                 allocation, how many allocations there were, and the rows; under callgrind part "expand" counts it
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex_kmp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

enum { FIXED = 8 };

/* What librex allocates passes here: the linker leads its calls of calloc() to __wrap_calloc(). */
static size_t allocated, allocations;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    allocated += count * size;
    allocations++;
    return __real_calloc(count, size);
}

/* As a call would, needs the columns in memory. */
#define CONSUME(columns) __asm__ volatile("" : : "r"(columns) : "memory")

/* ---- eight rows in local arrays -------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void in_braces(double *x, double *y, float *z, int64_t n, double a)
{
    void *value[2] = {(void *)(uintptr_t)n, rex_pack_literal_arg_bytes(&a, sizeof a)};
    void *base[FIXED] = {value[0], value[1], x, y, z, x + n, y + n, z + n};
    void *begin[FIXED] = {value[0], value[1], x, y, z, x + n, y + n, z + n};
    int64_t sizes[FIXED] = {8, 8, n * 8, n * 8, n * 4, n * 8, n * 8, n * 4};
    int64_t types[FIXED] = {0x120, 0x120, 0x21, 0x23, 0x22, 0x21, 0x23, 0x22};
    CONSUME(base);
    CONSUME(begin);
    CONSUME(sizes);
    CONSUME(types);
}

static __attribute__((noinline)) void by_macro(double *x, double *y, float *z, int64_t n, double a)
{
    REX_MAP(map, REX_VALUE(n), REX_VALUE(a), REX_TO(x, n), REX_TOFROM(y, n), REX_FROM(z, n), REX_TO(x + n, n), REX_TOFROM(y + n, n),
            REX_FROM(z + n, n));
    CONSUME(map.base);
    CONSUME(map.begin);
    CONSUME(map.sizes);
    CONSUME(map.types);
}

/* ---- rows that are counted when the program runs --------------------------------------------------------------------------- */

struct swarm {
    double *x, *y;
};

struct rows {
    struct swarm *swarms;
    long count;
};

static int push_rows(struct rex_map_builder *builder, void *context)
{
    const struct rows *rows = context;
    int result = 0;
    for (long i = 0; i < rows->count && result == 0; i++)
        result = rex_map_add(builder, REX_TOFROM(rows->swarms[i].x, 4));
    return result;
}

static int map_swarm(struct rex_map_builder *builder, void *element)
{
    struct swarm *swarm = element;
    int result = rex_map_add(builder, REX_OBJECT(REX_MAP_TO, *swarm));
    if (result == 0)
        result = rex_map_add(builder, REX_ATTACH(REX_MAP_TOFROM, swarm->x, 0, 4));
    return result == 0 ? rex_map_add(builder, REX_ATTACH(REX_MAP_FROM, swarm->y, 0, 4)) : result;
}

static int push_section(struct rex_map_builder *builder, void *context)
{
    const struct rows *rows = context;
    return rex_map_add_mapped(builder, map_swarm, REX_TO(rows->swarms, rows->count), sizeof *rows->swarms);
}

static int build(rex_rows *function, struct swarm *swarms, long count)
{
    struct rows rows = {swarms, count};
    struct rex_map map;
    int result = rex_map_build(&map, NULL, function, &rows, NULL);
    if (result == 0)
        CONSUME(map.types);
    rex_map_free(&map);
    return result;
}

/* ---- measuring ----------------------------------------------------------------------------------------------------------------- */

static struct swarm *make_swarms(long count)
{
    static double numbers[4];
    struct swarm *swarms = malloc((size_t)count * sizeof *swarms);
    for (long i = 0; swarms != NULL && i < count; i++)
        swarms[i] = (struct swarm){numbers, numbers};
    return swarms;
}

/* A part of the work of ROWS rows, and one of twice as many. */
#define PARTS(name, rows, statement)                                                                                   \
    for (long part = 1; part <= 2; part++) {                                                                           \
        CALLGRIND_START_INSTRUMENTATION;                                                                               \
        CALLGRIND_ZERO_STATS;                                                                                          \
        for (long count = (rows) * part, once = 1; once; once = 0)                                                     \
            statement;                                                                                                 \
        CALLGRIND_DUMP_STATS_AT(part == 1 ? name "-1" : name "-2");                                                    \
        CALLGRIND_STOP_INSTRUMENTATION;                                                                                \
    }

static int count_instructions(long rows)
{
    double x[2 * FIXED] = {0}, y[2 * FIXED] = {0};
    float z[2 * FIXED] = {0};
    struct swarm *swarms = make_swarms(2 * rows);
    int failed = swarms == NULL;
    PARTS("braces", rows, for (long i = 0; i < count; i += FIXED) in_braces(x, y, z, FIXED, 1.5))
    PARTS("static", rows, for (long i = 0; i < count; i += FIXED) by_macro(x, y, z, FIXED, 1.5))
    PARTS("dynamic", rows, failed |= build(push_rows, swarms, count))
    PARTS("mapper", rows, failed |= build(push_section, swarms, count / 3))
    free(swarms);
    return failed;
}

static int expand(long elements)
{
    struct timespec began, ended;
    struct swarm *swarms = make_swarms(elements);
    struct rows rows = {swarms, elements};
    struct rex_map map;
    if (swarms == NULL)
        return 1;
    allocated = allocations = 0;
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    clock_gettime(CLOCK_MONOTONIC, &began);
    int failed = rex_map_build(&map, NULL, push_section, &rows, NULL);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    CALLGRIND_DUMP_STATS_AT("expand");
    CALLGRIND_STOP_INSTRUMENTATION;
    if (failed == 0)
        printf("%.6f %zu %zu %d\n", (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec), allocated,
               allocations, map.count);
    rex_map_free(&map);
    free(swarms);
    return failed != 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--mapper") == 0)
        return expand(atol(argv[2]));
    return argc == 2 ? count_instructions(atol(argv[1])) : 2;
}
