/*
 * launch.c - a launch from a description and a map.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "rex/launch.h"

#include "base/error.h"
#include "omp/grid.h"
#include "cuda/lost.h"
#include "memory/devicememory.h"
#include "module/registration.h"
#include "memory/rowcheck.h"

#define FLAG_NOWAIT 0x1u

static const char *name_of(const struct rex_module *module, const void *key)
{
    const struct rex_registration *registration = rex_registration_of(module);
    int64_t position = registration != NULL ? rex_table_find(&registration->table, key) : -1;
    return position >= 0 ? registration->table.entries[position].name : "rex_launch";
}

int rex_packet_fill(struct __tgt_kernel_arguments *packet, const struct rex_kernel_launch *launch,
                    const struct rex_map *map)
{
    static const struct rex_map nothing;
    const struct rex_map *rows = map != NULL ? map : &nothing;
    if (packet == NULL || launch == NULL)
        return rex_fail(REX_EINVAL, "rex_packet_fill: the %s is NULL",
                        packet == NULL ? "packet" : "launch");
    if (rows->count < 0)
        return rex_fail(REX_EINVAL, "rex_packet_fill: a map with a negative number of rows, %d",
                        rows->count);
    if (rex_grid_is_missing(launch))
        return rex_fail(REX_EINVAL, "rex_packet_fill: a strict launch of %u teams of %u threads",
                        launch->teams[0], launch->threads[0]);
    *packet = (struct __tgt_kernel_arguments){
        .Version = 3,
        .NumArgs = (uint32_t)rows->count,
        .ArgsBase = rows->base,
        .Args = rows->begin,
        .ArgSizes = rows->sizes,
        .ArgTypes = rows->types,
        .ArgMappers = rows->mappers,
        .Tripcount = launch->trip_count,
        .Flags = (launch->flags & REX_LAUNCH_NOWAIT ? FLAG_NOWAIT : 0) |
                 (launch->flags & REX_LAUNCH_STRICT ? REX_FLAGS_STRICT : 0),
        .Teams = {launch->teams[0], launch->teams[1], launch->teams[2]},
        .Threads = {launch->threads[0], launch->threads[1], launch->threads[2]},
        .DynCGroupMem = launch->dynamic_memory,
    };
    return REX_OK;
}

static int check_launch(const struct rex_kernel_launch *launch, const struct rex_map *map,
                        const char *name)
{
    if (rex_grid_is_missing(launch))
        return rex_fail(REX_EINVAL, "kernel \"%s\": a strict launch of %u teams of %u threads",
                        name, launch->teams[0], launch->threads[0]);
    return rex_check_rows(map, REX_FOR_LAUNCH, name);
}

int rex_module_launch_map(struct rex_module *module, const struct rex_kernel_launch *launch,
                          const struct rex_map *map)
{
    struct __tgt_kernel_arguments packet;
    int number = 0, failed = 0;
    int result = launch != NULL ? rex_module_register(module)
                                : rex_fail(REX_EINVAL, "rex_launch: the launch is NULL");
    if (result != REX_OK)
        return result;
    const char *name = name_of(module, launch->key);
    result = rex_device_offload(launch->device, &number);
    if (result == REX_EHOST)
        return rex_fail_again(
            REX_EHOST, "nothing was launched: offloading is disabled, or the device is the host");
    if (result == REX_OK)
        result = rex_device_lost(number, name);
    if (result == REX_OK)
        result = check_launch(launch, map, name);
    if (result == REX_OK)
        result = rex_check_presence(map, REX_FOR_LAUNCH, number, name);
    if (result == REX_OK)
        result = rex_packet_fill(&packet, launch, map);
    if (result == REX_OK)
        result = rex_launch_fitted(module, launch->device, 0, 0, launch->key, &packet, &failed);
    return result == REX_OK && failed != 0 ? REX_EHOST : result;
}
