/*
 * packet.h - the packet of a launch: fitted to the bound release, and sent to libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PACKET_H
#define REX_INTERNAL_PACKET_H

#include <string.h>

#include "module/modules.h"
#include "omp/columns.h"
#include "omp/grid.h"
#include "rex/launch.h"

/*
 * Fill in the open numbers of a grid: 128 threads in x, and 1 in y and z. Teams in x are as many as
 * TRIP_COUNT iterations need; 128 if that is 0.
 */
void rex_grid_complete(uint32_t teams[3], uint32_t threads[3], uint64_t trip_count);

/* LAUNCH, which has REX_LAUNCH_GRID_STRIDE, with a grid and without that flag. */
struct rex_launch_config rex_grid_stride(const struct rex_launch_config *launch);

/* The map of launches without one. */
extern const struct rex_map rex_no_rows;

/* The packet's flags for LAUNCH. */
static inline uint64_t rex_packet_flags(const struct rex_launch_config *launch)
{
    return (launch->flags & REX_LAUNCH_NOWAIT ? REX_FLAG_NOWAIT : 0) |
           (launch->flags & REX_LAUNCH_STRICT ? REX_FLAGS_STRICT : 0);
}

/* The packet of LAUNCH with the rows of MAP, as a caller of libomptarget fills it. */
static inline void rex_packet_of(struct __tgt_kernel_arguments *packet,
                                 const struct rex_launch_config *launch, const struct rex_map *map)
{
    *packet = rex_packet_of_map(map);
    packet->Tripcount = (int64_t)launch->trip_count;
    packet->Flags = (int64_t)rex_packet_flags(launch);
    memcpy(packet->Teams, launch->teams, sizeof packet->Teams);
    memcpy(packet->Threads, launch->threads, sizeof packet->Threads);
    packet->DynCGroupMem = (int32_t)launch->dynamic_memory;
}

/* The rule by which the release passes the caller's rows to a kernel of FORM. */
static inline const struct rex_packet_rule *rex_rule_for(const struct rex_target *target,
                                                         enum rex_kernel_form form)
{
    const struct rex_release *release = target->registration->release;
    if (rex_kernel_flags(target->kernel) & REX_KERNEL_CALLED)
        return &release->host;
    return form == REX_FORM_ENV ? &release->env : &release->plain;
}

/*
 * Check ARGS and fit a copy to the release and to RULE: 0 or an error. NUM_TEAMS and THREAD_LIMIT
 * are used if ARGS has no grid.
 */
int rex_packet_fit(const struct rex_target *target, const struct rex_packet_rule *rule,
                   int32_t num_teams, int32_t thread_limit,
                   const struct __tgt_kernel_arguments *args,
                   struct __tgt_kernel_arguments *packet);

/*
 * Launch PACKET, which was fitted by RULE. Returns 0 and libomptarget's result in *RETURNED, or
 * REX_ENOMEM or an error of rex_flight_enter().
 */
int rex_send(const struct rex_target *target, const struct rex_packet_rule *rule,
             struct __tgt_kernel_arguments *packet, int *returned);

#endif
