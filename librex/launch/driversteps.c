/*
 * driversteps.c - the driver's steps for one launch: copies, the kernel, the wait.
 *
 * Up to REX_STAGED_MOST bytes are staged: the processor copies the rows into one pinned buffer, and
 * the driver copies that to the arena; copies back go the same way. With a few small rows the
 * number of driver calls counts. So they go as a graph of three nodes, whose kernel gets new
 * arguments each time. Larger memory, and memory that the driver knows, is copied row by row from
 * its place; threads copy large rows.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/driversteps.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "memory/staging.h"

/* ---- failures -------------------------------------------------------------------------------- */

static int failed(const struct rex_plan *plan, const char *what)
{
    return rex_fail(REX_ECUDA, "kernel \"%s\": %s: %s", plan->packed.kernel->name, what,
                    rex_cuda_why());
}

/*
 * Reports a lost device. This launch is the first to know; no other call can use the device any
 * more.
 */
static int lost(const struct rex_plan *plan)
{
    char why[256], name[80];
    snprintf(why, sizeof why, "%s", rex_cuda_why());
    snprintf(name, sizeof name, "kernel \"%s\"", plan->packed.kernel->name);
    rex_device_lose(plan->context->ordinal, plan->claim.number, name, why);
    return rex_fail(REX_ECUDA, "kernel \"%s\", %u x %u x %u teams of %u x %u x %u threads: %s",
                    plan->packed.kernel->name, plan->packed.grid[0], plan->packed.grid[1],
                    plan->packed.grid[2], plan->packed.block[0], plan->packed.block[1],
                    plan->packed.block[2], why);
}

/*
 * Waits after a failure, because work that was begun may still use the launch's memory. If the wait
 * fails, the device is treated as lost.
 */
static int give_up(const struct rex_plan *plan, int result)
{
    return REX_CUDA(cuStreamSynchronize, plan->context->stream) == 0 ? result : lost(plan);
}

static int wait(const struct rex_plan *plan)
{
    int result = REX_CUDA(cuStreamSynchronize, plan->context->stream);
    if (result == 0)
        return REX_OK;
    return rex_cuda_is_of_call(result) ? give_up(plan, failed(plan, "the wait")) : lost(plan);
}

/* ---- copies row by row ----------------------------------------------------------------------- */

static int copy_in(const struct rex_plan *plan, uint64_t to, uintptr_t from, size_t size)
{
    return REX_CUDA(cuMemcpyHtoDAsync, to, (const void *)from, size, plan->context->stream) == 0
               ? REX_OK
               : failed(plan, "a copy to the device");
}

static int copy_out(const struct rex_plan *plan, uintptr_t to, uint64_t from, size_t size)
{
    return REX_CUDA(cuMemcpyDtoHAsync, (void *)to, from, size, plan->context->stream) == 0
               ? REX_OK
               : failed(plan, "a copy from the device");
}

/* Threads copy a large row of ordinary memory if they can; otherwise the driver copies. */
static int copy(const struct rex_plan *plan, uint64_t device, uintptr_t host, size_t size,
                int64_t direction)
{
    const struct rex_staged_copy staged = {
        .host = (void *)host, .device = device, .size = size, .to_host = direction == REX_MAP_FROM};
    if (rex_staging_copy(&staged, plan->context->stream))
        return REX_OK;
    return direction == REX_MAP_TO ? copy_in(plan, device, host, size)
                                   : copy_out(plan, host, device, size);
}

static int copy_own(const struct rex_plan *plan, int64_t direction)
{
    int result = REX_OK;
    for (size_t i = 0; i < plan->own_count && result == REX_OK; i++) {
        const struct rex_own_row *own = &plan->own[i];
        if (own->outer == i && (own->type & direction))
            result = copy(plan, own->device, own->begin, own->end - own->begin, direction);
    }
    return result;
}

/* Copies mapped rows that have the always modifier. */
static int copy_updates(const struct rex_plan *plan, int64_t direction)
{
    const struct rex_map *map = plan->map;
    int result = REX_OK;
    for (size_t i = 0; plan->has_updates && i < plan->claim.count && result == REX_OK; i++) {
        const struct rex_place *place = &plan->claim.place[i];
        int32_t row = place->row;
        if (place->device != 0 && (map->types[row] & REX_MAP_ALWAYS) &&
            (map->types[row] & direction) && map->sizes[row] > 0)
            result = copy(plan, place->device, place->begin, (size_t)map->sizes[row], direction);
    }
    return result;
}

/* ---- row by row ------------------------------------------------------------------------------ */

static void free_blocks(const struct rex_plan *plan)
{
    for (size_t i = 0; i < plan->own_count; i++)
        if (plan->own[i].device != 0)
            rex_block_give(plan->context->device, plan->own[i].device);
}

static size_t size_of(const struct rex_own_row *own)
{
    return own->end - own->begin;
}

/*
 * Allocates for each row. Returns the first row without memory, and frees the others then; NULL:
 * none.
 */
static const struct rex_own_row *try_blocks(struct rex_plan *plan, bool exact)
{
    for (size_t i = 0; i < plan->own_count; i++)
        plan->own[i].device = 0;
    for (size_t i = 0; i < plan->own_count; i++) {
        struct rex_own_row *own = &plan->own[i];
        if (own->outer != i)
            continue;
        own->device = rex_block_take(plan->context->device, size_of(own), exact);
        if (own->device == 0) {
            free_blocks(plan);
            return own;
        }
    }
    return NULL;
}

/* Tries exact sizes last, because blocks that are kept are larger than a row. */
static int take_blocks(struct rex_plan *plan)
{
    const struct rex_own_row *failed = try_blocks(plan, plan->is_exact);
    if (failed != NULL && !plan->is_exact)
        failed = try_blocks(plan, true);
    return failed == NULL
               ? REX_OK
               : rex_fail(rex_cuda_memory_error(), "kernel \"%s\": map row %d, %zu bytes: %s",
                          plan->packed.kernel->name, failed->row, size_of(failed), rex_cuda_why());
}

/* Packs the arguments; the own rows have their memory. */
static int pack(const struct rex_plan *plan)
{
    for (size_t i = 0; i < plan->own_count; i++) {
        const struct rex_own_row *own = &plan->own[i], *outer = &plan->own[own->outer];
        plan->device[own->row] = (uintptr_t)outer->device + (own->begin - outer->begin);
    }
    return rex_pack_arguments(&plan->context->arguments, plan->packed.kernel, plan->form, plan->map,
                              plan->device);
}

static int launch_kernel(const struct rex_plan *plan)
{
    const struct rex_launch_context *context = plan->context;
    return rex_packed_put(&plan->packed, &context->arguments, context->stream) == 0
               ? REX_OK
               : rex_packed_failed(&plan->packed);
}

static int do_by_rows(const struct rex_plan *plan)
{
    int result = copy_updates(plan, REX_MAP_TO);
    if (result == REX_OK)
        result = copy_own(plan, REX_MAP_TO);
    if (result == REX_OK)
        result = launch_kernel(plan);
    if (result == REX_OK)
        result = copy_own(plan, REX_MAP_FROM);
    if (result == REX_OK)
        result = copy_updates(plan, REX_MAP_FROM);
    return result == REX_OK ? wait(plan) : give_up(plan, result);
}

static int launch_by_rows(struct rex_plan *plan)
{
    int result = take_blocks(plan);
    if (result != REX_OK)
        return result;
    result = pack(plan);
    if (result == REX_OK)
        result = do_by_rows(plan);
    free_blocks(plan);
    return result;
}

/* ---- staged ---------------------------------------------------------------------------------- */

/* Most bytes of small rows that go with the kernel as one graph. */
#define GRAPH_MOST ((size_t)128 << 10)

static void stage(const struct rex_plan *plan, int64_t direction)
{
    for (size_t i = 0; i < plan->own_count; i++) {
        const struct rex_own_row *own = &plan->own[i];
        unsigned char *staged = plan->context->staging + own->offset;
        if (own->outer != i || !(own->type & direction))
            continue;
        if (direction == REX_MAP_TO)
            memcpy(staged, (const void *)own->begin, size_of(own));
        else
            memcpy((void *)own->begin, staged, size_of(own));
    }
}

static int put_in_stream(const struct rex_plan *plan)
{
    const struct rex_staged *staged = &plan->staged;
    const struct rex_launch_context *context = plan->context;
    size_t out = staged->out_end - staged->out_begin;
    int result = plan->has_updates ? copy_updates(plan, REX_MAP_TO) : REX_OK;
    if (result == REX_OK && staged->in > 0)
        result = copy_in(plan, context->arena, (uintptr_t)context->staging, staged->in);
    if (result == REX_OK)
        result = launch_kernel(plan);
    if (result == REX_OK && out > 0)
        result = copy_out(plan, (uintptr_t)context->staging + staged->out_begin,
                          context->arena + staged->out_begin, out);
    return result == REX_OK && plan->has_updates ? copy_updates(plan, REX_MAP_FROM) : result;
}

int rex_plan_run(struct rex_plan *plan)
{
    const struct rex_staged *staged = &plan->staged;
    struct rex_launch_context *context = plan->context;
    int result = REX_OK;
    if (staged->total > REX_STAGED_MOST || plan->is_exact || !plan->is_pageable)
        return launch_by_rows(plan);
    if (staged->total > context->room)
        result = rex_launch_context_make_room(context, staged->total, plan->packed.kernel->name);
    if (result != REX_OK)
        return result;
    for (size_t i = 0; i < plan->own_count; i++)
        plan->own[i].device = context->arena + plan->own[i].offset;
    result = pack(plan);
    if (result != REX_OK)
        return result;
    stage(plan, REX_MAP_TO);
    bool is_for_graph = !plan->has_updates && staged->in <= GRAPH_MOST &&
                        staged->out_end - staged->out_begin <= GRAPH_MOST;
    if (!is_for_graph || !rex_launch_as_graph(context, &plan->packed, staged))
        result = put_in_stream(plan);
    result = result == REX_OK ? wait(plan) : give_up(plan, result);
    if (result == REX_OK)
        stage(plan, REX_MAP_FROM);
    return result;
}
