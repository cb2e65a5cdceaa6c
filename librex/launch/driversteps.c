/*
 * driversteps.c - the driver's steps for one launch: copies, the kernel, the wait.
 *
 * Up to REX_SLOT_MOST bytes are staged: the processor copies the rows into one pinned buffer, and
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
#include "cuda/context.h"
#include "cuda/pinned.h"
#include "launch/slotgraph.h"
#include "memory/staging.h"

/* ---- failures -------------------------------------------------------------------------------- */

static int failed(const struct rex_driver_launch *launch, const char *what)
{
    return rex_fail(REX_ECUDA, "kernel \"%s\": %s: %s", launch->packed.kernel->name, what,
                    rex_cuda_why());
}

/*
 * Reports a lost device. This launch is the first to know; no other call can use the device any
 * more.
 */
static int lost(const struct rex_driver_launch *launch)
{
    char why[256], name[80];
    snprintf(why, sizeof why, "%s", rex_cuda_why());
    snprintf(name, sizeof name, "kernel \"%s\"", launch->packed.kernel->name);
    rex_device_lose(launch->slot->ordinal, launch->number, name, why);
    return rex_fail(REX_ECUDA, "kernel \"%s\", %u x %u x %u teams of %u x %u x %u threads: %s",
                    launch->packed.kernel->name, launch->packed.grid[0], launch->packed.grid[1],
                    launch->packed.grid[2], launch->packed.block[0], launch->packed.block[1],
                    launch->packed.block[2], why);
}

/*
 * Waits after a failure, because work that was begun may still use the launch's memory. If the wait
 * fails, the device is treated as lost.
 */
static int give_up(const struct rex_driver_launch *launch, int result)
{
    return REX_CUDA(cuStreamSynchronize, launch->slot->stream) == 0 ? result : lost(launch);
}

static int wait(const struct rex_driver_launch *launch)
{
    int result = REX_CUDA(cuStreamSynchronize, launch->slot->stream);
    if (result == 0)
        return REX_OK;
    return rex_cuda_is_of_call(result) ? give_up(launch, failed(launch, "the wait")) : lost(launch);
}

/* ---- copies row by row ----------------------------------------------------------------------- */

static int copy_in(const struct rex_driver_launch *launch, uint64_t to, uintptr_t from, size_t size)
{
    return REX_CUDA(cuMemcpyHtoDAsync, to, (const void *)from, size, launch->slot->stream) == 0
               ? REX_OK
               : failed(launch, "a copy to the device");
}

static int copy_out(const struct rex_driver_launch *launch, uintptr_t to, uint64_t from,
                    size_t size)
{
    return REX_CUDA(cuMemcpyDtoHAsync, (void *)to, from, size, launch->slot->stream) == 0
               ? REX_OK
               : failed(launch, "a copy from the device");
}

/* Threads copy a large row of ordinary memory if they can; otherwise the driver copies. */
static int copy(const struct rex_driver_launch *launch, uint64_t device, uintptr_t host,
                size_t size, int64_t direction)
{
    const struct rex_staged_copy staged = {
        .host = (void *)host, .device = device, .size = size, .to_host = direction == REX_MAP_FROM};
    if (rex_staging_copy(&staged, launch->slot->stream))
        return REX_OK;
    return direction == REX_MAP_TO ? copy_in(launch, device, host, size)
                                   : copy_out(launch, host, device, size);
}

static int copy_own(const struct rex_driver_launch *launch, int64_t direction)
{
    const struct rex_driver_rows *rows = &launch->rows;
    int result = REX_OK;
    for (size_t i = 0; i < rows->own_count && result == REX_OK; i++) {
        const struct rex_own_row *own = &rows->own[i];
        if (own->outer == i && (own->type & direction))
            result = copy(launch, own->device, own->begin, own->end - own->begin, direction);
    }
    return result;
}

/* Copies mapped rows that have the always modifier. */
static int copy_updates(const struct rex_driver_launch *launch, int64_t direction)
{
    const struct rex_driver_rows *rows = &launch->rows;
    const struct rex_map *map = rows->map;
    int result = REX_OK;
    for (size_t i = 0; rows->has_updates && i < rows->claim.count && result == REX_OK; i++) {
        const struct rex_place *place = &rows->claim.place[i];
        int32_t row = place->row;
        if (place->device != 0 && (map->types[row] & REX_MAP_ALWAYS) &&
            (map->types[row] & direction) && map->sizes[row] > 0)
            result = copy(launch, place->device, place->begin, (size_t)map->sizes[row], direction);
    }
    return result;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Most bytes of small rows that go with the kernel as one graph. */
#define GRAPH_MOST ((size_t)128 << 10)

static bool are_ordinary(const struct rex_driver_rows *rows)
{
    bool ordinary = true;
    for (size_t i = 0; i < rows->own_count && ordinary; i++)
        if (rows->own[i].type & REX_MAP_TOFROM)
            ordinary = rex_is_ordinary_memory((const void *)rows->own[i].begin) &&
                       rex_is_ordinary_memory((const void *)(rows->own[i].end - 1));
    return ordinary;
}

static bool is_staged(const struct rex_driver_launch *launch)
{
    return launch->rows.total <= REX_SLOT_MOST && !launch->is_exact && are_ordinary(&launch->rows);
}

static void free_blocks(const struct rex_driver_launch *launch)
{
    const struct rex_driver_rows *rows = &launch->rows;
    for (size_t i = 0; i < rows->own_count; i++)
        if (rows->own[i].device != 0)
            rex_block_give(launch->slot->device, rows->own[i].device);
}

static size_t size_of(const struct rex_own_row *own)
{
    return own->end - own->begin;
}

/*
 * Allocates for each row. Returns the first row without memory, and frees the others then; NULL:
 * none.
 */
static const struct rex_own_row *try_blocks(struct rex_driver_launch *launch, bool exact)
{
    struct rex_driver_rows *rows = &launch->rows;
    for (size_t i = 0; i < rows->own_count; i++)
        rows->own[i].device = 0;
    for (size_t i = 0; i < rows->own_count; i++) {
        struct rex_own_row *own = &rows->own[i];
        if (own->outer != i)
            continue;
        own->device = rex_block_take(launch->slot->device, size_of(own), exact);
        if (own->device == 0) {
            free_blocks(launch);
            return own;
        }
    }
    return NULL;
}

/* Tries exact sizes last, because blocks that are kept are larger than a row. */
static int take_blocks(struct rex_driver_launch *launch)
{
    const struct rex_own_row *failed = try_blocks(launch, launch->is_exact);
    if (failed != NULL && !launch->is_exact)
        failed = try_blocks(launch, true);
    return failed == NULL
               ? REX_OK
               : rex_fail(rex_cuda_memory_error(), "kernel \"%s\": map row %d, %zu bytes: %s",
                          launch->packed.kernel->name, failed->row, size_of(failed),
                          rex_cuda_why());
}

static void lie_in_arena(struct rex_driver_rows *rows, uint64_t arena)
{
    for (size_t i = 0; i < rows->own_count; i++)
        rows->own[i].device = arena + rows->own[i].offset;
}

/* ---- row by row ------------------------------------------------------------------------------ */

static int launch_kernel(const struct rex_driver_launch *launch)
{
    return rex_packed_put(&launch->packed, &launch->slot->arguments, launch->slot->stream) == 0
               ? REX_OK
               : rex_packed_failed(&launch->packed);
}

static int do_by_rows(const struct rex_driver_launch *launch)
{
    int result = copy_updates(launch, REX_MAP_TO);
    if (result == REX_OK)
        result = copy_own(launch, REX_MAP_TO);
    if (result == REX_OK)
        result = launch_kernel(launch);
    if (result == REX_OK)
        result = copy_own(launch, REX_MAP_FROM);
    if (result == REX_OK)
        result = copy_updates(launch, REX_MAP_FROM);
    return result == REX_OK ? wait(launch) : give_up(launch, result);
}

static int launch_by_rows(struct rex_driver_launch *launch, const struct rex_map *map,
                          enum rex_kernel_form form)
{
    int result = take_blocks(launch);
    if (result != REX_OK)
        return result;
    rex_driver_rows_settle(&launch->rows);
    result = rex_pack_arguments(&launch->slot->arguments, launch->packed.kernel, form, map,
                                launch->rows.device);
    if (result == REX_OK)
        result = do_by_rows(launch);
    free_blocks(launch);
    return result;
}

/* ---- staged ---------------------------------------------------------------------------------- */

static void stage(const struct rex_driver_launch *launch, int64_t direction)
{
    const struct rex_driver_rows *rows = &launch->rows;
    for (size_t i = 0; i < rows->own_count; i++) {
        const struct rex_own_row *own = &rows->own[i];
        unsigned char *staged = launch->slot->staging + own->offset;
        if (own->outer != i || !(own->type & direction))
            continue;
        if (direction == REX_MAP_TO)
            memcpy(staged, (const void *)own->begin, own->end - own->begin);
        else
            memcpy((void *)own->begin, staged, own->end - own->begin);
    }
}

static int put_in_stream(const struct rex_driver_launch *launch)
{
    const struct rex_driver_rows *rows = &launch->rows;
    struct rex_slot *slot = launch->slot;
    size_t out = rows->out_end - rows->out_begin;
    int result = copy_updates(launch, REX_MAP_TO);
    if (result == REX_OK && rows->in > 0)
        result = copy_in(launch, slot->arena, (uintptr_t)slot->staging, rows->in);
    if (result == REX_OK)
        result = launch_kernel(launch);
    if (result == REX_OK && out > 0)
        result = copy_out(launch, (uintptr_t)slot->staging + rows->out_begin,
                          slot->arena + rows->out_begin, out);
    return result == REX_OK ? copy_updates(launch, REX_MAP_FROM) : result;
}

static bool is_for_graph(const struct rex_driver_rows *rows)
{
    return !rows->has_updates && rows->in <= GRAPH_MOST &&
           rows->out_end - rows->out_begin <= GRAPH_MOST;
}

static int launch_staged(struct rex_driver_launch *launch, const struct rex_map *map,
                         enum rex_kernel_form form)
{
    struct rex_driver_rows *rows = &launch->rows;
    struct rex_slot *slot = launch->slot;
    int result = rex_slot_make_room(slot, rows->total, launch->packed.kernel->name);
    if (result != REX_OK)
        return result;
    lie_in_arena(rows, slot->arena);
    rex_driver_rows_settle(rows);
    result = rex_pack_arguments(&slot->arguments, launch->packed.kernel, form, map, rows->device);
    if (result != REX_OK)
        return result;
    stage(launch, REX_MAP_TO);
    if (!is_for_graph(rows) || !rex_slot_graph_launch(launch))
        result = put_in_stream(launch);
    result = result == REX_OK ? wait(launch) : give_up(launch, result);
    if (result == REX_OK)
        stage(launch, REX_MAP_FROM);
    return result;
}

int rex_driver_launch(struct rex_driver_launch *launch, const struct rex_map *map,
                      enum rex_kernel_form form)
{
    return is_staged(launch) ? launch_staged(launch, map, form) : launch_by_rows(launch, map, form);
}
