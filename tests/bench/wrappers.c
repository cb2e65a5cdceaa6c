/*
 * wrappers.c - launches under callgrind: libomptarget's function itself, the direct wrapper, the safe wrapper. For each of them callgrind
 * writes two parts, NAME-1 and NAME-2, of N and 2N launches: their difference is N launches and nothing else.
 *
 * usage: wrappers N
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>
#include <rex_kmp.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include "inqueue.h"

REX_KERNEL(bench_2);

typedef int launcher(ident_t *loc, int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *args);
typedef int (*exported_launcher)(int64_t device, int32_t teams, int32_t threads, void *key, struct __tgt_kernel_arguments *args);

static launcher *real;
static exported_launcher exported;

static void *column[4];
static int64_t sizes[4] = {8, 8, 8, 8}, types[4] = {0x120, 0x120, 0x120, 0x120};

/* Version 2 and parameters only: the one packet that libomptarget leaves as it is, so that all may be given the same. */
static struct __tgt_kernel_arguments packet = {2,    4,    column, column, sizes,     types,     NULL, NULL,
                                               1000, 0,    {4, 1, 1},      {64, 1, 1}, 0};

/* Not inlined, so that every way is a loop around one call. */
#define WAY(name, call)                                                                                                \
    static __attribute__((noinline)) int name(long count)                                                              \
    {                                                                                                                  \
        int failed = 0;                                                                                                \
        for (long i = 0; i < count; i++)                                                                               \
            failed |= (call);                                                                                          \
        return failed;                                                                                                 \
    }
WAY(by_real, real(&rex_target_kernel_ident, 0, 4, 64, REX_KERNEL_ID(bench_2), &packet))
WAY(by_direct, rex_direct___tgt_target_kernel(0, 4, 64, REX_KERNEL_ID(bench_2), &packet))
WAY(by_safe, rex___tgt_target_kernel(0, 4, 64, REX_KERNEL_ID(bench_2), &packet))
WAY(by_teams, rex_direct___tgt_target_teams(0, REX_KERNEL_ID(bench_2), 4, column, column, sizes, types, 4, 64))
WAY(by_exported, exported(0, 4, 64, REX_KERNEL_ID(bench_2), &packet))

/* Data that is mapped: a launch and a queue's launch of the same kernel with two values and two arrays. */
#define ELEMENTS 1000
static double x[ELEMENTS], y[ELEMENTS];
static struct rex_queue *queue;

#define LAUNCHES(name, call)                                                                                           \
    static __attribute__((noinline)) int name(long count)                                                              \
    {                                                                                                                  \
        int failed = 0, n = ELEMENTS;                                                                                  \
        double a = 2.0;                                                                                                \
        struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(bench_2), 4, 64);                         \
        REX_MAP(map, REX_VALUE(n), REX_VALUE(a), REX_TO(x, ELEMENTS), REX_TOFROM(y, ELEMENTS));                        \
        for (long i = 0; i < count; i++)                                                                               \
            failed |= (call);                                                                                          \
        return failed;                                                                                                 \
    }
LAUNCHES(by_launch, rex_launch(&launch, &map))
LAUNCHES(by_queue, launch_in(queue, &launch, &map))

static int measure(const char *name, int (*way)(long count), long count)
{
    char part[64];
    int failed = way(8); /* what happens once is over */
    for (int i = 1; i <= 2; i++) {
        snprintf(part, sizeof part, "%s-%d", name, i);
        CALLGRIND_START_INSTRUMENTATION;
        CALLGRIND_ZERO_STATS;
        failed |= way(i * count);
        CALLGRIND_DUMP_STATS_AT(part);
        CALLGRIND_STOP_INSTRUMENTATION;
    }
    if (failed)
        fprintf(stderr, "%s: launches failed\n", name);
    return failed;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 1000;
    if (rex_offload_init() != 0)
        return 1;
    void *handle = dlopen(rex_runtime_path(), RTLD_NOW | RTLD_NOLOAD);
    void *address = handle != NULL ? dlsym(handle, "__tgt_target_kernel") : NULL;
    memcpy(&real, &address, sizeof real);
    if (real == NULL)
        return 1;
    int failed = measure("real", by_real, count) | measure("direct", by_direct, count) | measure("safe", by_safe, count) |
                 measure("teams", by_teams, count);
    REX_MAP(region, REX_TO(x, ELEMENTS), REX_TOFROM(y, ELEMENTS));
    if (rex_data_enter(-1, &region) != 0 || rex_queue_create(&queue, -1, NULL, 0) != 0)
        return 1;
    failed |= measure("launch", by_launch, count) | measure("queue", by_queue, count);
    if (rex_queue_destroy(queue) != 0 || rex_data_exit(-1, &region) != 0)
        return 1;
    /* Exported by librex.so alone. */
    address = dlsym(RTLD_DEFAULT, "rex___tgt_target_kernel");
    memcpy(&exported, &address, sizeof exported);
    if (exported != NULL)
        failed |= measure("exported", by_exported, count);
    return failed;
}
