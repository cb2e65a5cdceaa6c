/*
 * packet.h - the packet of a launch, as the bound release wants it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PACKET_H
#define REX_INTERNAL_PACKET_H

#include "launch/resolve.h"
#include "omp/grid.h"
#include "rex/launch.h"

/*
 * What a launch leaves open: 128 threads in x, as many teams in x as TRIP_COUNT iterations need
 * (128, where that is 0), and 1 in y and z.
 */
void rex_grid_complete(uint32_t teams[3], uint32_t threads[3], uint64_t trip_count);

#define REX_FLAG_NOWAIT 0x1u

/* A map for launches without one. */
extern const struct rex_map rex_no_rows;

/* The packet of LAUNCH with the rows of MAP, as a caller of libomptarget fills it. */
static inline void rex_packet_of(struct __tgt_kernel_arguments *packet,
                                 const struct rex_kernel_launch *launch, const struct rex_map *map)
{
    *packet = (struct __tgt_kernel_arguments){
        .Version = 3,
        .NumArgs = (uint32_t)map->count,
        .ArgsBase = map->base,
        .Args = map->begin,
        .ArgSizes = map->sizes,
        .ArgTypes = map->types,
        .ArgMappers = map->mappers,
        .Tripcount = launch->trip_count,
        .Flags = (launch->flags & REX_LAUNCH_NOWAIT ? REX_FLAG_NOWAIT : 0) |
                 (launch->flags & REX_LAUNCH_STRICT ? REX_FLAGS_STRICT : 0),
        .Teams = {launch->teams[0], launch->teams[1], launch->teams[2]},
        .Threads = {launch->threads[0], launch->threads[1], launch->threads[2]},
        .DynCGroupMem = launch->dynamic_memory,
    };
}

/* What makes the release pass the caller's rows to a kernel of FORM. */
static inline const struct rex_packet_rule *rex_rule_for(const struct rex_target *target,
                                                         enum rex_kernel_form form)
{
    const struct rex_release *release = target->registration->release;
    return form == REX_FORM_ENV ? &release->env : &release->plain;
}

/*
 * Check ARGS and fit a copy to the release and to RULE: 0, or an error. NUM_TEAMS and THREAD_LIMIT
 * count where ARGS has no grid.
 */
int rex_packet_fit(const struct rex_target *target, const struct rex_packet_rule *rule,
                   int32_t num_teams, int32_t thread_limit,
                   const struct __tgt_kernel_arguments *args,
                   struct __tgt_kernel_arguments *packet);

#endif
