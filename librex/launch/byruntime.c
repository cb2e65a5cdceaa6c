/*
 * byruntime.c - launches by libomptarget. Fills the packet in the way that the bound release of
 * LLVM needs.
 *
 * libomptarget gets a copy of the packet of the program, because LLVM 16 to 23 change the number of
 * arguments and the grid in the packet. If the program launched again with the changed packet,
 * libomptarget would read past the arrays of the program.
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
#include "launch/attributes.h"
#include "launch/bydriver.h"
#include "launch/check.h"
#include "memory/rowlookup.h"
#include "omp/device.h"
#include "present/presentcalls.h"

/* ---- the call -------------------------------------------------------------------------------- */

#define ROWS_ON_STACK 64

static int send_packet(const struct rex_request *request, struct __tgt_kernel_arguments *packet,
                       int *returned)
{
    const struct rex_target *target = &request->target;
    return rex_call_kernel(target->registration->location, request->device,
                           target->kernel->entry->addr, packet, rex_request_reason(request),
                           returned);
}

/*
 * Copies the columns of PACKET to STORAGE, and adds a row: after the last row if AT_END is true,
 * otherwise before the first row. STORAGE must have 6 x (NumArgs + 1) words, for four columns and
 * two optional columns.
 */
static void add_packet_row(struct __tgt_kernel_arguments *packet, bool at_end, void **storage)
{
    size_t rows = (size_t)packet->NumArgs, all = rows + 1, own = at_end ? rows : 0, first = !at_end;
    void **base = storage, **begin = base + all, **names = begin + all, **mappers = names + all;
    int64_t *sizes = (int64_t *)(mappers + all), *types = sizes + all;
    /* the value that LLVM 18 and later pass if there is no launch environment */
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
 * Launches with one more row in the packet, in two cases:
 * - LLVM 14 to 17 do not pass the first parameter of an env kernel, which is for the runtime. So a
 *   row before the first row passes this parameter.
 * - On the host device, LLVM 23 and 24 overwrite the last row. So a row is added after the last
 *   row, and no row of the program is overwritten.
 */
static int send_packet_with_row(const struct rex_request *request,
                                struct __tgt_kernel_arguments *packet, bool at_end, int *returned)
{
    void *on_stack[6 * (ROWS_ON_STACK + 1)], **storage = on_stack;
    size_t bytes = ((size_t)packet->NumArgs + 1) * 6 * sizeof *storage;
    if (bytes > sizeof on_stack) {
        storage = malloc(bytes);
        if (storage == NULL)
            return rex_fail_memory(bytes, "the rows of a launch");
    }
    add_packet_row(packet, at_end, storage);
    int result = send_packet(request, packet, returned);
    if (storage != on_stack)
        free(storage);
    return result;
}

/*
 * Enters the present table, checks the rows against the mappings, and sends PACKET. The check comes
 * after the entry: without this order, another call could map a part of a row between the check and
 * the launch. If the program passed a packet, does not check the rows. Returns 0 or an error.
 */
static int enter_and_send(const struct rex_request *request, const struct rex_packet_rule *rule,
                          struct __tgt_kernel_arguments *packet, int *returned)
{
    const struct rex_map *map = request->map;
    int number = rex_openmp_number(request->device), result = REX_OK;
    enum rex_present_outcome outcome =
        packet->Flags & REX_FLAG_NOWAIT ? REX_LEFT_UNSURE : REX_LEFT_DONE;
    const struct rex_range_lock *ranges = rex_present_enter(REX_CALL_LAUNCHES, map, number);
    if (!request->is_packet)
        result = rex_check_presence(map, request->purpose, number, request->target.name, ranges);
    if (result != REX_OK)
        outcome = REX_LEFT_REFUSED;
    else if (rule->leading_row || rule->trailing_row)
        result = send_packet_with_row(request, packet, rule->trailing_row, returned);
    else
        result = send_packet(request, packet, returned);
    rex_present_leave(REX_CALL_LAUNCHES, map, number, outcome);
    return result;
}

/* ---- the launch ------------------------------------------------------------------------------ */

/*
 * Fails if the launch has attributes, or if the device is a GPU and REX_LAUNCH_BY is `driver`.
 * Otherwise logs the fallback reason, except if REX_LAUNCH_BY is `runtime` or the device is not a
 * GPU.
 */
static int log_or_refuse_reason(const struct rex_request *request)
{
    char why[REX_REASON_MAX];
    if (request->grid.attributes != 0)
        return rex_attributes_refuse(request);
    if (request->reasons & (REX_REASON_ASKED | REX_REASON_NO_GPU))
        return REX_OK;
    bool refused = rex_driver_is_demanded();
    if (!refused && !rex_log_wanted(REX_LOG_INFO))
        return REX_OK;
    rex_reason_text(rex_request_reason(request), why);
    if (refused)
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%.*s\": %s=driver, and only libomptarget can launch it: %s",
                        REX_KERNEL_NAME(request->target.name),
                        rex_settings[REX_OPTION_LAUNCH_BY].variable, why);
    rex_log_backend(&request->target, "libomptarget", why);
    return REX_OK;
}

int rex_launch_by_runtime(const struct rex_request *request, int *returned)
{
    const struct rex_target *target = &request->target;
    const struct rex_release *release = target->registration->release;
    const struct rex_packet_rule *rule = &release->plain;
    struct rex_grid grid = request->grid;
    enum rex_kernel_form form = REX_FORM_UNKNOWN;
    /*
     * On the host device the loops of a kernel need libomp. The loops would crash after libomp has
     * cleaned up in this thread.
     */
    if (rex_thread.ends > 0 && rex_registration_on_host(target->registration))
        return rex_fail(REX_EINVAL, REX_THREAD_IS_OVER);
    int result = request->is_packet ? rex_check_packet(request, &form)
                                    : rex_check_parameters(request, &form);
    if (result != REX_OK)
        return result;
    if (form == REX_FORM_ENV)
        rule = &release->env;
    /*
     * LLVM 22 raises the limit of a kernel's dynamic memory only if the dynamic memory alone is at
     * least 48 KiB. So ask for 48 KiB if static and dynamic memory together exceed 48 KiB.
     */
    if (release->static_memory_uncounted && grid.dynamic_memory < REX_SHARED_MEMORY &&
        (uint64_t)grid.dynamic_memory + target->kernel->shared_memory > REX_SHARED_MEMORY)
        grid.dynamic_memory = REX_SHARED_MEMORY;
    if (rex_kernel_flags(target->kernel) & REX_KERNEL_CALLED) {
        rule = &release->host;
        grid.dynamic_memory = 0; /* the host device ignores the size, but LLVM 23 and 24 check it */
    }
    result = rex_check_grid(target, rule, &grid);
    if (result != REX_OK)
        return result;
    result = log_or_refuse_reason(request);
    if (result != REX_OK)
        return result;
    struct __tgt_kernel_arguments packet = rex_request_packet(request);
    packet.Version = (int32_t)rule->version;
    packet.Flags |= (int64_t)release->strict_flags;
    packet.DynCGroupMem = (int32_t)grid.dynamic_memory;
    if (rex_rows_wanted())
        rex_rows_log(target->name, request->device, &packet);
    return enter_and_send(request, rule, &packet, returned);
}
