/*
 * hand.c - two kernels, a data region and an update, with nothing but rex_kmp.h. Linked in every form that there is.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <rex/entry.h>
#include <rex_kmp.h>

#include <stdio.h>

#include "hand.h"

enum { N = 1000, TO = 1, FROM = 2, PARAMETER = 0x20, LITERAL = 0x100 };

REX_KERNEL(link_fill);
REX_KERNEL(link_add);

static int64_t x[N], y[N];

static int launch(void *key, uint32_t rows, void **row, int64_t *sizes, int64_t *types)
{
    struct __tgt_kernel_arguments args = {3, rows, row, row, sizes, types, NULL, NULL, N, 0, {4, 1, 1}, {64, 1, 1}, 0};
    return __tgt_target_kernel(-1, 4, 64, key, &args);
}

static int fill(int64_t first)
{
    int64_t n = N, sizes[] = {8, 8, sizeof x};
    int64_t types[] = {PARAMETER | LITERAL, PARAMETER | LITERAL, PARAMETER | TO | FROM};
    void *row[] = {rex_pack_literal_arg_bytes(&n, sizeof n), rex_pack_literal_arg_bytes(&first, sizeof first), x};
    return launch(REX_KERNEL_ID(link_fill), 3, row, sizes, types);
}

/* The older launch, so that both are linked. */
static int add(void)
{
    int64_t n = N, sizes[] = {8, sizeof x, sizeof y};
    int64_t types[] = {PARAMETER | LITERAL, PARAMETER | TO, PARAMETER | TO | FROM};
    void *row[] = {rex_pack_literal_arg_bytes(&n, sizeof n), x, y};
    return __tgt_target_teams(-1, REX_KERNEL_ID(link_add), 3, row, row, sizes, types, 4, 64);
}

static long long sum(const int64_t *values)
{
    long long total = 0;
    for (int i = 0; i < N; i++)
        total += values[i];
    return total;
}

int hand(void)
{
    void *row[] = {x, y};
    int64_t sizes[] = {sizeof x, sizeof y}, types[] = {TO | FROM, TO | FROM};
    int failed = rex_offload_init();
    if (failed != 0)
        return failed;
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    __tgt_target_data_begin(-1, 2, row, row, sizes, types);
    failed = fill(1) != 0 || add() != 0 || add() != 0;
    __tgt_target_data_update(-1, 2, row, row, sizes, (int64_t[]){FROM, FROM});
    printf("in the region: %lld %lld\n", sum(x), sum(y));
    failed += fill(7) != 0 || add() != 0;
    __tgt_target_data_end(-1, 2, row, row, sizes, types);
    printf("behind it: %lld %lld\n", sum(x), sum(y));
    rex_offload_fini();
    return failed;
}
