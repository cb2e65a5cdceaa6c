/*
 * offload.c - micro.h with librex.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex.h>

#include <stdio.h>

#include "micro.h"

REX_KERNEL(micro_nothing);
REX_KERNEL(micro_axpy_kernel);
REX_KERNEL(micro_16);
REX_KERNEL(micro_64);
REX_KERNEL(micro_256);

enum { THREADS = 256 };

static double one, *const one_address = &one;

static int said(int result)
{
    if (result != 0)
        fprintf(stderr, "micro: %s\n", rex_last_error());
    return result == 0 ? 0 : -1;
}

int micro_start(void)
{
    if (rex_offload_init() != 0)
        return -1;
    REX_MAP(region, REX_TO(one_address, 1));
    return said(rex_data_enter(-1, &region)) != 0 ? -1 : micro_empty();
}

double *micro_cell(void)
{
    return one_address;
}

int micro_empty(void)
{
    struct rex_launch_config launch = rex_launch_config_of(REX_KERNEL_ID(micro_nothing), 1, 1);
    return said(rex_launch(&launch, NULL));
}

int micro_arguments(int count)
{
    static void *base[MOST_ARGUMENTS];
    static int64_t sizes[MOST_ARGUMENTS], types[MOST_ARGUMENTS];
    const void *key = count == 16   ? REX_KERNEL_ID(micro_16)
                      : count == 64 ? REX_KERNEL_ID(micro_64)
                                    : REX_KERNEL_ID(micro_256);
    struct rex_launch_config launch = rex_launch_config_of(key, 1, 1);
    for (int i = 0; i < count; i++) {
        base[i] = one_address;
        sizes[i] = sizeof one;
        types[i] = REX_MAP_TARGET_PARAM;
    }
    struct rex_map map = {
        .count = count, .base = base, .begin = base, .sizes = sizes, .types = types};
    return said(rex_launch(&launch, &map));
}

int micro_axpy(double a, double *x, double *y, int64_t count, int mapped)
{
    int64_t teams = (count + THREADS - 1) / THREADS;
    struct rex_launch_config launch = rex_launch_config_of(
        REX_KERNEL_ID(micro_axpy_kernel), (uint32_t)(teams < 65535 ? teams : 65535), THREADS);
    if (mapped) {
        REX_MAP(map, REX_VALUE(count), REX_VALUE(a), REX_ALLOC(x, count), REX_ALLOC(y, count));
        return said(rex_launch(&launch, &map));
    }
    REX_MAP(map, REX_VALUE(count), REX_VALUE(a), REX_TO(x, count), REX_TOFROM(y, count));
    return said(rex_launch(&launch, &map));
}

int micro_region(double *x, double *y, int64_t count, long launches)
{
    int result;
    REX_MAP(map, REX_TOFROM(y, count));
    if (said(rex_data_enter(-1, &map)) != 0)
        return -1;
    for (result = 0; launches > 0 && result == 0; launches--)
        result = micro_axpy(1.0, x, y, count, 1);
    return said(rex_data_exit(-1, &map)) == 0 ? result : -1;
}

int micro_map(void *memory, int64_t bytes)
{
    char *begin = memory;
    REX_MAP(map, REX_TO(begin, bytes));
    return said(rex_data_enter(-1, &map));
}

int micro_unmap(void *memory, int64_t bytes)
{
    char *begin = memory;
    REX_MAP(map, REX_TO(begin, bytes));
    return said(rex_data_exit(-1, &map));
}

int micro_copy_to(void *memory, int64_t bytes)
{
    char *begin = memory;
    REX_MAP(map, REX_TO(begin, bytes));
    return said(rex_data_update(-1, &map));
}

int micro_copy_from(void *memory, int64_t bytes)
{
    char *begin = memory;
    REX_MAP(map, REX_FROM(begin, bytes));
    return said(rex_data_update(-1, &map));
}

void *micro_pinned(size_t bytes)
{
    return rex_host_alloc(bytes);
}
