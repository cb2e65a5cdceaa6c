/*
 * launch.c - the ways in: a packet with a host key, or a description with a map (rex/offload.h,
 * rex/launch.h).
 *
 * Every launch is resolved (which kernel), checked (rows and grid), packed (the kernel's arguments)
 * and sent.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/launch.h"

#include <string.h>

#include "base/error.h"
#include "cuda/context.h"
#include "launch/bydriver.h"
#include "launch/check.h"
#include "launch/mapped.h"
#include "launch/packet.h"
#include "memory/presence.h"
#include "omp/callreport.h"
#include "omp/calls.h"
#include "omp/flight.h"
#include "omp/grid.h"
#include "omp/runtime.h"
#include "rex/launch.h"
#include "trace/trace.h"

/* ---- a launch with all checks ---------------------------------------------------------------- */

/* Returns 0 and libomptarget's result in *RETURNED, or an error. */
static int pack_and_send(const struct rex_target *target, int32_t num_teams, int32_t thread_limit,
                         const struct __tgt_kernel_arguments *args, int *returned)
{
    enum rex_kernel_form form;
    struct __tgt_kernel_arguments packet;
    int result = rex_check_packet(target, args, &form);
    if (result != REX_OK)
        return result;
    const struct rex_packet_rule *rule = rex_rule_for(target, form);
    result = rex_packet_fit(target, rule, num_teams, thread_limit, args, &packet);
    if (result != REX_OK)
        return result;
    result = rex_let_runtime_launch(target);
    return result == REX_OK ? rex_send(target, rule, &packet, returned) : result;
}

/* The description of the launch, with the defaults of rex_packet_fit(). */
static struct rex_launch_config launch_of(int32_t num_teams, int32_t thread_limit,
                                          const struct __tgt_kernel_arguments *args)
{
    struct rex_launch_config launch = {
        .trip_count = args->Tripcount > 0 ? (uint64_t)args->Tripcount : 0,
        .dynamic_memory = (uint32_t)args->DynCGroupMem,
        .flags = args->Flags & REX_FLAG_NOWAIT ? REX_LAUNCH_NOWAIT : 0u};
    memcpy(launch.teams, args->Teams, sizeof launch.teams);
    memcpy(launch.threads, args->Threads, sizeof launch.threads);
    if (launch.teams[0] == 0 && num_teams > 0)
        launch.teams[0] = (uint32_t)num_teams;
    if (launch.threads[0] == 0 && thread_limit > 0)
        launch.threads[0] = (uint32_t)thread_limit;
    return launch;
}

/* As rex_launch_by_driver(). */
static int launch_packet_by_driver(struct rex_target *target, int32_t num_teams,
                                   int32_t thread_limit, const struct __tgt_kernel_arguments *args)
{
    target->against = args == NULL ? REX_AGAINST_ROWS
                      : ((uint64_t)args->Flags & ~(uint64_t)REX_FLAGS_USUAL) != 0
                          ? REX_AGAINST_FLAGS
                          : 0u;
    if (target->against != 0)
        return REX_OK;
    struct rex_launch_config launch = launch_of(num_teams, thread_limit, args);
    struct rex_map map = {args->NumArgs,  args->ArgsBase,   args->Args, args->ArgSizes,
                          args->ArgTypes, args->ArgMappers, NULL};
    int result = rex_launch_by_driver(target, &launch, &map);
    return target->against != 0 ? rex_launch_mapped(target, &launch, &map) : result;
}

/* The driver launches if possible, else libomptarget. */
static int launch_packet(struct rex_target *target, int32_t num_teams, int32_t thread_limit,
                         const struct __tgt_kernel_arguments *args, int *returned)
{
    int result = launch_packet_by_driver(target, num_teams, thread_limit, args);
    return target->against == 0 ? result
                                : pack_and_send(target, num_teams, thread_limit, args, returned);
}

/* ---- a packet -------------------------------------------------------------------------------- */

int rex_module_launch(struct rex_module *module, int64_t device, int32_t num_teams,
                      int32_t thread_limit, void *host_key, struct __tgt_kernel_arguments *args)
{
    struct rex_target target;
    int returned = 0;
    int result = rex_module_ready(module, "rex_module_launch");
    if (result == REX_OK)
        result = rex_resolve(module, host_key, device, &target);
    if (result == REX_OK)
        result = launch_packet(&target, num_teams, thread_limit, args, &returned);
    return result == REX_OK && returned != 0 ? REX_EHOST : result;
}

/* ---- a description and a map ----------------------------------------------------------------- */

/* The host device calls a kernel with words of 8 bytes, also for a queue. */
static int check_words(const struct rex_map *map, int number, const char *name)
{
    for (int32_t i = 0; i < map->count; i++)
        if (map->sizes[i] > 8 && (map->types[i] & REX_MAP_LITERAL) &&
            (map->types[i] & REX_MAP_TARGET_PARAM))
            return rex_fail(REX_EUNSUPPORTED,
                            "kernel \"%s\": map row %d is a value of %lld bytes, and device %d "
                            "takes at most 8: map it",
                            name, i, (long long)map->sizes[i], number);
    return REX_OK;
}

/* The results of a launch's checks. */
struct checked {
    struct rex_target target;
    int number; /* of the device */
    struct rex_new_rows new_rows;
};

/* Returns 0, an error, or REX_EHOST, without a message, if the device is the host. */
static int resolve(struct rex_module *module, const struct rex_launch_config *launch,
                   struct checked *checked)
{
    int result = rex_module_ready(module, "rex_launch");
    rex_new_rows_open(&checked->new_rows);
    if (result == REX_OK)
        result = rex_device_offload(launch->device, &checked->number);
    if (result == REX_OK)
        result = rex_resolve(module, launch->key, launch->device, &checked->target);
    if (result == REX_OK)
        result = rex_device_lost(checked->number, rex_target_name(&checked->target));
    return result == REX_OK ? rex_check_strict(launch, rex_target_name(&checked->target)) : result;
}

static int check(const struct rex_map *map, enum rex_purpose purpose, struct checked *checked)
{
    const char *name = rex_target_name(&checked->target);
    checked->target.map = map;
    int result = rex_check_rows(map, purpose, name);
    if (result == REX_OK && purpose == REX_FOR_QUEUE)
        result = check_words(map, checked->number, name);
    return result == REX_OK
               ? rex_check_presence(map, purpose, checked->number, name, &checked->new_rows)
               : result;
}

static int check_parameters(const struct checked *checked, const struct rex_launch_config *launch,
                            const struct rex_map *map, struct __tgt_kernel_arguments *packet)
{
    enum rex_kernel_form form;
    rex_packet_of(packet, launch, map);
    return rex_check_parameters(&checked->target, packet, &form);
}

static int send_checked(struct checked *checked, const struct rex_launch_config *launch,
                        const struct rex_map *map, int *returned)
{
    struct __tgt_kernel_arguments packet;
    /* Checks the rows even if their number was checked before, because their types may differ. */
    int result = check_parameters(checked, launch, map, &packet);
    if (result == REX_OK)
        result = pack_and_send(&checked->target, 0, 0, &packet, returned);
    if (result != REX_OK)
        return result;
    rex_new_rows_are_mapped(&checked->new_rows);
    return REX_OK;
}

/* As rex_launch_by_driver(). A launch of a queue that comes here is left to libomptarget. */
static int launch_map_by_driver(struct checked *checked, const struct rex_launch_config *launch,
                                const struct rex_map *map, enum rex_purpose purpose)
{
    checked->target.against = REX_AGAINST_DEVICE;
    return purpose == REX_FOR_LAUNCH ? rex_launch_by_driver(&checked->target, launch, map) : REX_OK;
}

static int launch_resolved(struct checked *checked, const struct rex_launch_config *launch,
                           const struct rex_map *map, enum rex_purpose purpose, int *returned)
{
    int result = launch_map_by_driver(checked, launch, map, purpose);
    if (checked->target.against == 0)
        return result;
    result = check(map, purpose, checked);
    if (result == REX_OK)
        result = rex_launch_mapped(&checked->target, launch, map);
    return result == REX_OK && checked->target.against != 0
               ? send_checked(checked, launch, map, returned)
               : result;
}

int rex_launch_check(struct rex_module *module, const struct rex_launch_config *launch,
                     const struct rex_map *map, enum rex_purpose purpose)
{
    struct checked checked;
    struct __tgt_kernel_arguments packet;
    int result = resolve(module, launch, &checked);
    if (result == REX_OK)
        result = check(map, purpose, &checked);
    if (result == REX_OK)
        result = check_parameters(&checked, launch, map, &packet);
    rex_new_rows_free(&checked.new_rows);
    /* Without a device the rows are checked all the same, because a graph may keep them. */
    return result == REX_EHOST ? rex_check_rows(map, purpose, "a launch") : result;
}

int rex_launch_map(struct rex_module *module, const struct rex_launch_config *launch,
                   const struct rex_map *map, enum rex_purpose purpose)
{
    struct checked checked;
    int returned = 0;
    rex_shelter_begin(); /* once for all calls below */
    int result = resolve(module, launch, &checked);
    if (result == REX_OK)
        result =
            launch_resolved(&checked, launch, map != NULL ? map : &rex_no_rows, purpose, &returned);
    rex_new_rows_free(&checked.new_rows);
    rex_shelter_end();
    if (result == REX_EHOST)
        return rex_fail_again(
            REX_EHOST, "nothing was launched: offloading is disabled, or the device is the host");
    return result == REX_OK && returned != 0 ? REX_EHOST : result;
}
