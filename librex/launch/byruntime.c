/*
 * byruntime.c - a launch by libomptarget, by a packet that is fitted to the bound release. If the
 * release cannot launch the kernel, libomptarget maps the rows, and the driver launches.
 *
 * The caller's packet is never passed on. libomptarget changes its number of arguments and its grid
 * (LLVM 16 to 23). With the same packet it would read past the arrays at the next launch.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/byruntime.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "base/settings.h"
#include "calls/callreport.h"
#include "calls/calls.h"
#include "launch/bydriver.h"
#include "launch/check.h"
#include "memory/data.h"
#include "memory/presence.h"
#include "omp/device.h"
#include "present/presentcalls.h"

/* ---- the packet ------------------------------------------------------------------------------ */

/* The rule by which the release passes the caller's rows to a kernel of FORM. */
static const struct rex_packet_rule *rule_for(const struct rex_target *target,
                                              enum rex_kernel_form form)
{
    const struct rex_release *release = target->registration->release;
    if (rex_kernel_flags(target->kernel) & REX_KERNEL_CALLED)
        return &release->host;
    return form == REX_FORM_ENV ? &release->env : &release->plain;
}

/*
 * The dynamic memory of the packet: so much that the release asks the driver for all of the block's
 * shared memory. The host device has none, but 23 and 24 count it.
 */
static uint32_t fit_dynamic_memory(const struct rex_target *target, uint32_t dynamic)
{
    uint64_t all = (uint64_t)dynamic + target->kernel->shared_memory;
    if (rex_kernel_flags(target->kernel) & REX_KERNEL_CALLED)
        return 0;
    return target->registration->release->static_memory_uncounted && dynamic < REX_SHARED_MEMORY &&
                   all > REX_SHARED_MEMORY
               ? REX_SHARED_MEMORY
               : dynamic;
}

/* ---- the call -------------------------------------------------------------------------------- */

#define ROWS_ON_STACK 64

static int call(const struct rex_request *request, struct __tgt_kernel_arguments *packet,
                int *returned)
{
    const struct rex_target *target = &request->target;
    return rex_call_kernel(target->registration->location, request->device,
                           target->kernel->entry->addr, packet, rex_request_reason(request),
                           returned);
}

/*
 * Copies the four columns and the two optional ones to STORAGE and adds a row, in front or AT_END.
 * STORAGE has 6 x (NumArgs + 1) words.
 */
static void add_row(struct __tgt_kernel_arguments *packet, bool at_end, void **storage)
{
    size_t rows = (size_t)packet->NumArgs, all = rows + 1, own = at_end ? rows : 0, first = !at_end;
    void **base = storage, **begin = base + all, **names = begin + all, **mappers = names + all;
    int64_t *sizes = (int64_t *)(mappers + all), *types = sizes + all;
    /* The value that LLVM 18 and later pass without a launch environment. */
    base[own] = begin[own] = (void *)-1;
    names[own] = mappers[own] = NULL;
    sizes[own] = sizeof(void *);
    types[own] = REX_MAP_TARGET_PARAM | REX_MAP_LITERAL;
    if (rows > 0) {
        memcpy(base + first, packet->ArgsBase, rows * sizeof *base);
        memcpy(begin + first, packet->Args, rows * sizeof *begin);
        memcpy(sizes + first, packet->ArgSizes, rows * sizeof *sizes);
        memcpy(types + first, packet->ArgTypes, rows * sizeof *types);
        if (packet->ArgNames != NULL)
            memcpy(names + first, packet->ArgNames, rows * sizeof *names);
        if (packet->ArgMappers != NULL)
            memcpy(mappers + first, packet->ArgMappers, rows * sizeof *mappers);
    }
    packet->NumArgs = (int32_t)all;
    packet->ArgsBase = base;
    packet->Args = begin;
    packet->ArgSizes = sizes;
    packet->ArgTypes = types;
    packet->ArgNames = packet->ArgNames != NULL ? names : NULL;
    packet->ArgMappers = packet->ArgMappers != NULL ? mappers : NULL;
}

/*
 * Sends the packet with one row more. LLVM 14 to 17 do not pass the runtime's parameter to an env
 * kernel. 23 and 24 overwrite the last row with it.
 */
static int call_with_row(const struct rex_request *request, struct __tgt_kernel_arguments *packet,
                         bool at_end, int *returned)
{
    void *on_stack[6 * (ROWS_ON_STACK + 1)], **storage = on_stack;
    size_t bytes = ((size_t)packet->NumArgs + 1) * 6 * sizeof *storage;
    if (bytes > sizeof on_stack && (storage = malloc(bytes)) == NULL)
        return rex_fail_memory(bytes, "the rows of a launch");
    add_row(packet, at_end, storage);
    int result = call(request, packet, returned);
    if (storage != on_stack)
        free(storage);
    return result;
}

/*
 * Enters the present table. The rows are checked after that, because until then another call may
 * map a part of them. What is in a packet is the program's business.
 */
static int call_entered(const struct rex_request *request, const struct rex_packet_rule *rule,
                        struct __tgt_kernel_arguments *packet, int *returned)
{
    const struct rex_map *map = request->map;
    int number = rex_openmp_number(request->device), result = REX_OK;
    bool is_later = (packet->Flags & REX_FLAG_NOWAIT) != 0;
    const struct rex_range_lock *ranges = rex_present_enter(REX_CALL_LAUNCHES, map, number);
    if (!request->is_packet)
        result = rex_check_presence(map, request->purpose, number, request->target.name, ranges);
    bool is_refused = result != REX_OK;
    if (result == REX_OK)
        result = rule->leading_row || rule->trailing_row
                     ? call_with_row(request, packet, rule->trailing_row, returned)
                     : call(request, packet, returned);
    rex_present_leave(REX_CALL_LAUNCHES, map, number,
                      is_refused ? REX_CALL_REFUSED
                      : is_later ? REX_CALL_LATER
                                 : REX_CALL_DONE);
    return result;
}

/* ---- rows that libomptarget maps ------------------------------------------------------------- */

/*
 * LLVM 18 launches no plain kernel on a GPU. A launch maps and unmaps its rows as data calls do. So
 * libomptarget maps the rows (members, attached pointers, mappers), the driver launches, and
 * libomptarget unmaps. Other releases launch themselves, because that waits once and not three
 * times.
 */

/* Fallback reasons of rows that disappear if libomptarget maps the rows by a data call. */
#define REASONS_OF_MAPPING                                                      \
    ((unsigned)(REX_REASON_UNSEEN_CALLS | REX_REASON_MAPPER | REX_REASON_TYPE | \
                REX_REASON_BESIDE | REX_REASON_LOOSE | REX_REASON_UNSEEN | REX_REASON_OVERLAP))

/*
 * Writes the rows of MAP that are mapped to *MAPPED; the caller frees its bases. 0 or REX_ENOMEM. A
 * row that is only an argument and maps nothing is cleared, so that the others keep their numbers.
 */
static int rows_to_map(const struct rex_map *map, const char *name, struct rex_map *mapped)
{
    size_t count = (size_t)map->count, row = 2 * sizeof(void *) + 2 * sizeof(int64_t);
    *mapped = *map;
    mapped->base = calloc(count, row);
    if (mapped->base == NULL)
        return rex_fail_memory(count * row, name);
    mapped->begin = mapped->base + count;
    mapped->sizes = (void *)(mapped->begin + count);
    mapped->types = mapped->sizes + count;
    for (int32_t i = 0; i < map->count; i++) {
        if (map->types[i] & REX_MAP_NOT_MAPPED)
            continue;
        mapped->base[i] = map->base[i];
        mapped->begin[i] = map->begin[i];
        mapped->sizes[i] = map->sizes[i];
        mapped->types[i] = map->types[i] & ~REX_MAP_TARGET_PARAM;
    }
    return REX_OK;
}

static int launch_in_region(struct rex_request *request, const struct rex_map *mapped)
{
    int result = rex_map_for_launch(request->target.registration->module, request->device, mapped);
    if (result != REX_OK)
        return result;
    result = rex_launch_by_driver(request, true);
    /* No kernel has written to rows that were mapped for a refused launch: no copy back. */
    for (int32_t i = 0; result != REX_OK && i < mapped->count; i++)
        mapped->types[i] &= ~REX_MAP_FROM;
    int ended = rex_unmap_after_launch(request->device, mapped);
    return result == REX_OK ? ended : result;
}

/*
 * Whether libomptarget launches no such kernel, and only its rows keep the driver from it. The rows
 * have not been read if the program's calls are unseen.
 */
static bool may_be_mapped(const struct rex_request *request)
{
    const struct rex_target *target = &request->target;
    const struct rex_map *map = request->map;
    unsigned reasons = request->reasons;
    if (!target->registration->release->plain.refused ||
        (rex_kernel_flags(target->kernel) & REX_KERNEL_CALLED))
        return false;
    for (int32_t i = 0; i < map->count && (reasons & ~REASONS_OF_MAPPING) == 0; i++)
        reasons |= rex_reasons_of_row(map, i);
    return (reasons & ~REASONS_OF_MAPPING) == 0;
}

static int launch_mapped(struct rex_request *request)
{
    const struct rex_target *target = &request->target;
    enum rex_kernel_form form = REX_FORM_UNKNOWN;
    struct rex_map mapped;
    int result = rex_check_form_of(target, request->map, &form);
    if (result == REX_OK && form != REX_FORM_PLAIN)
        return REX_OK;
    request->reasons = 0;
    if (result == REX_OK)
        result = rows_to_map(request->map, target->name, &mapped);
    if (result != REX_OK)
        return result;
    result = launch_in_region(request, &mapped);
    free(mapped.base);
    return result;
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* Logs the reason. Refuses the launch if REX_LAUNCH_BY=driver. */
static int log_reason(const struct rex_request *request)
{
    char why[REX_REASON_MAX];
    if (request->reasons & (REX_REASON_ASKED | REX_REASON_NO_GPU))
        return REX_OK;
    bool refused = rex_driver_is_demanded();
    if (!refused && !rex_log_wanted(REX_LOG_INFO))
        return REX_OK;
    rex_reason_text(rex_request_reason(request), why);
    if (refused)
        return rex_fail(
            REX_EUNSUPPORTED, "kernel \"%.*s\": %s=driver, and only libomptarget can launch it: %s",
            REX_KERNEL_NAME(request->target.name), rex_setting_variable(REX_OPTION_LAUNCH_BY), why);
    rex_log_backend(&request->target, "libomptarget", why);
    return REX_OK;
}

static int launch(const struct rex_request *request, int *returned)
{
    const struct rex_target *target = &request->target;
    struct rex_grid grid = request->grid;
    enum rex_kernel_form form = REX_FORM_UNKNOWN;
    /* libomp may have left the thread before, and the kernel's loops would crash in it. */
    if (rex_thread.ends > 0 && rex_registration_on_host(target->registration))
        return rex_fail(REX_EINVAL, REX_THREAD_IS_OVER);
    int result = request->is_packet ? rex_check_packet(request, &form)
                                    : rex_check_parameters(request, &form);
    if (result != REX_OK)
        return result;
    const struct rex_packet_rule *rule = rule_for(target, form);
    grid.dynamic_memory = fit_dynamic_memory(target, grid.dynamic_memory);
    result = rex_check_grid(target, rule, &grid);
    if (result == REX_OK)
        result = log_reason(request);
    if (result != REX_OK)
        return result;
    struct __tgt_kernel_arguments packet = rex_request_packet(request);
    packet.Version = (int32_t)rule->version;
    packet.Flags |= (int64_t)target->registration->release->strict_flags;
    packet.DynCGroupMem = (int32_t)grid.dynamic_memory;
    if (rex_rows_wanted())
        rex_rows_log(target->name, request->device, &packet);
    return call_entered(request, rule, &packet, returned);
}

int rex_launch_by_runtime(struct rex_request *request, int *returned)
{
    int result = may_be_mapped(request) ? launch_mapped(request) : REX_OK;
    return result == REX_OK && request->reasons != 0 ? launch(request, returned) : result;
}
