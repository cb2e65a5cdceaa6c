/*
 * send.c - a launch on its way to libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/send.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "omp/calls.h"
#include "omp/rowlog.h"
#include "rex/map.h"

#define ROWS_ON_STACK 64

static int call(const struct rex_target *target, struct __tgt_kernel_arguments *packet)
{
    return rex_call_kernel(target->registration->location, target->device,
                           rex_target_entry(target)->addr, packet);
}

/*
 * The four columns with one row in front, in STORAGE of 6 x (NumArgs + 1) words, and the two
 * optional ones behind them.
 */
static void lead(struct __tgt_kernel_arguments *packet, void **storage)
{
    size_t rows = packet->NumArgs, all = rows + 1;
    void **base = storage, **begin = base + all, **names = begin + all, **mappers = names + all;
    int64_t *sizes = (int64_t *)(mappers + all), *types = sizes + all;
    /* What LLVM 18 on pass where there is no launch environment. */
    base[0] = begin[0] = (void *)-1;
    names[0] = mappers[0] = NULL;
    sizes[0] = sizeof(void *);
    types[0] = REX_TYPE_PARAMETER | REX_TYPE_LITERAL;
    if (rows > 0) {
        memcpy(base + 1, packet->ArgsBase, rows * sizeof *base);
        memcpy(begin + 1, packet->Args, rows * sizeof *begin);
        memcpy(sizes + 1, packet->ArgSizes, rows * sizeof *sizes);
        memcpy(types + 1, packet->ArgTypes, rows * sizeof *types);
        if (packet->ArgNames != NULL)
            memcpy(names + 1, packet->ArgNames, rows * sizeof *names);
        if (packet->ArgMappers != NULL)
            memcpy(mappers + 1, packet->ArgMappers, rows * sizeof *mappers);
    }
    packet->NumArgs = (uint32_t)all;
    packet->ArgsBase = base;
    packet->Args = begin;
    packet->ArgSizes = sizes;
    packet->ArgTypes = types;
    packet->ArgNames = packet->ArgNames != NULL ? names : NULL;
    packet->ArgMappers = packet->ArgMappers != NULL ? mappers : NULL;
}

/* LLVM 14 to 17 add no parameter of their own for a kernel that has one for it. */
static int send_leading(const struct rex_target *target, struct __tgt_kernel_arguments *packet,
                        int *result)
{
    void *on_stack[6 * (ROWS_ON_STACK + 1)], **storage = on_stack;
    size_t rows = (size_t)packet->NumArgs + 1;
    if (packet->NumArgs > ROWS_ON_STACK && (storage = calloc(rows, 6 * sizeof *storage)) == NULL)
        return rex_fail_memory(rows * 6 * sizeof *storage, "the rows of a launch");
    lead(packet, storage);
    *result = call(target, packet);
    if (storage != on_stack)
        free(storage);
    return REX_OK;
}

int rex_send(const struct rex_target *target, const struct rex_packet_rule *rule,
             struct __tgt_kernel_arguments *packet, int *result)
{
    if (rex_rows_wanted())
        rex_rows_log(rex_target_name(target), target->device, packet);
    if (rule->leading_row)
        return send_leading(target, packet, result);
    *result = call(target, packet);
    return REX_OK;
}
