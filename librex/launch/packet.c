/*
 * packet.c - the packet of a launch: fitted to the bound release, and sent to libomptarget.
 *
 * The caller's packet is never passed on. libomptarget changes its number of arguments and its grid
 * (LLVM 16 to 23). With the same packet it would read past the arrays at the next launch.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cuda/driver.h"
#include "launch/check.h"
#include "omp/callreport.h"
#include "omp/calls.h"
#include "omp/grid.h"
#include "rex/map.h"

#define DEFAULT_TEAMS 128u
#define DEFAULT_THREADS 128u

const struct rex_map rex_no_rows;

/* ---- fitted to the release ------------------------------------------------------------------- */

static uint32_t default_teams(uint64_t trip_count, uint32_t threads)
{
    uint64_t teams = trip_count / threads + (trip_count % threads != 0);
    return teams == 0 ? DEFAULT_TEAMS : teams > INT32_MAX ? INT32_MAX : (uint32_t)teams;
}

void rex_grid_complete(uint32_t teams[3], uint32_t threads[3], uint64_t trip_count)
{
    if (threads[0] == 0)
        threads[0] = DEFAULT_THREADS;
    if (teams[0] == 0)
        teams[0] = default_teams(trip_count, threads[0]);
    for (int i = 1; i < 3; i++) {
        teams[i] += teams[i] == 0;
        threads[i] += threads[i] == 0;
    }
}

struct rex_launch_config rex_grid_stride(const struct rex_launch_config *launch)
{
    struct rex_launch_config whole = *launch;
    whole.flags &= ~REX_LAUNCH_GRID_STRIDE;
    rex_grid_complete(whole.teams, whole.threads, launch->trip_count > 0 ? launch->trip_count : 1);
    uint64_t resident = rex_gpu_most(REX_GPU_RESIDENT_THREADS);
    for (int i = 0; i < 3; i++)
        resident /= whole.threads[i]; /* the product of the threads may overflow 64 bits */
    if (launch->teams[0] == 0 && resident > 0 && whole.teams[0] > resident)
        whole.teams[0] = (uint32_t)resident;
    return whole;
}

/*
 * Sets so much dynamic memory that the release asks the driver for all of the block's shared
 * memory.
 */
static void fit_dynamic_memory(const struct rex_target *target,
                               struct __tgt_kernel_arguments *packet)
{
    const struct rex_registration *registration = target->registration;
    uint64_t all = (uint64_t)(uint32_t)packet->DynCGroupMem + target->kernel->shared_memory;
    if (registration->release->static_memory_uncounted &&
        (uint32_t)packet->DynCGroupMem < REX_SHARED_MEMORY && all > REX_SHARED_MEMORY)
        packet->DynCGroupMem = REX_SHARED_MEMORY;
}

int rex_packet_fit(const struct rex_target *target, const struct rex_packet_rule *rule,
                   int32_t num_teams, int32_t thread_limit,
                   const struct __tgt_kernel_arguments *args, struct __tgt_kernel_arguments *packet)
{
    struct __tgt_kernel_arguments fitted = *args;
    if (fitted.Teams[0] == 0 && num_teams > 0)
        fitted.Teams[0] = num_teams;
    if (fitted.Threads[0] == 0 && thread_limit > 0)
        fitted.Threads[0] = thread_limit;
    rex_grid_complete((uint32_t *)fitted.Teams, (uint32_t *)fitted.Threads,
                      fitted.Tripcount > 0 ? (uint64_t)fitted.Tripcount : 0);
    fit_dynamic_memory(target, &fitted);
    /* the host device has none, but 23 and 24 count it */
    if (rex_kernel_flags(target->kernel) & REX_KERNEL_CALLED)
        fitted.DynCGroupMem = 0;
    int result = rex_check_grid(target, rule, &fitted);
    if (result != REX_OK)
        return result;
    fitted.Version = (int32_t)rule->version;
    fitted.Flags |= (int64_t)target->registration->release->strict_flags;
    *packet = fitted;
    return REX_OK;
}

/* ---- sent ------------------------------------------------------------------------------------ */

#define ROWS_ON_STACK 64

static int call(const struct rex_target *target, struct __tgt_kernel_arguments *packet,
                int *returned)
{
    return rex_call_kernel(target->registration->location, target->device,
                           target->kernel->entry->addr, packet, rex_target_reason(target),
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
static int send_with_row(const struct rex_target *target, struct __tgt_kernel_arguments *packet,
                         bool at_end, int *returned)
{
    void *on_stack[6 * (ROWS_ON_STACK + 1)], **storage = on_stack;
    size_t bytes = ((size_t)packet->NumArgs + 1) * 6 * sizeof *storage;
    if (bytes > sizeof on_stack && (storage = malloc(bytes)) == NULL)
        return rex_fail_memory(bytes, "the rows of a launch");
    add_row(packet, at_end, storage);
    int result = call(target, packet, returned);
    if (storage != on_stack)
        free(storage);
    return result;
}

int rex_send(const struct rex_target *target, const struct rex_packet_rule *rule,
             struct __tgt_kernel_arguments *packet, int *returned)
{
    if (rex_rows_wanted())
        rex_rows_log(rex_target_name(target), target->device, packet);
    if (rule->leading_row || rule->trailing_row)
        return send_with_row(target, packet, rule->trailing_row, returned);
    return call(target, packet, returned);
}
