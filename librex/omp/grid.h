/*
 * grid.h - the grid that a call passes to libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_GRID_H
#define REX_INTERNAL_GRID_H

#include <stdint.h>
#include <string.h>

#include "cuda/driver.h"
#include "omp/entrypoints.h"
#include "rex/launch.h"

/*
 * Maximum size of the shared memory of a block in bytes. A driver call can raise the maximum for a
 * kernel.
 */
#define REX_SHARED_MEMORY 49152u

/* Packet flag: the call may return before the kernel ends. LLVM 14 and 15 ignore the flag. */
#define REX_FLAG_NOWAIT 0x1u
/*
 * Packet flags of LLVM 23: REX_FLAGS_FALLBACK selects the fallback if dynamic shared memory is
 * short. REX_FLAG_COOPERATIVE requests a cooperative launch.
 */
#define REX_FLAGS_FALLBACK 0xcu
#define REX_FLAG_COOPERATIVE 0x10u
/*
 * Packet flags of LLVM 23: the numbers of teams and threads are exact. Earlier LLVM releases ignore
 * these bits.
 */
#define REX_FLAGS_STRICT 0xc0u
/* Flags that rex_launch() sets. Every LLVM release either knows such a flag or ignores it. */
#define REX_FLAGS_USUAL (REX_FLAG_NOWAIT | REX_FLAGS_STRICT)

/*
 * NUMBER is the number of teams or threads in a packet. Returns NUMBER, or 0 if libomptarget
 * chooses the number. clang 17 and later write -1 for a target region without teams.
 */
static inline uint32_t rex_grid_chosen(int32_t number)
{
    return number > 0 ? (uint32_t)number : 0;
}

static inline struct rex_grid rex_grid_of_call(int32_t teams, int32_t threads)
{
    return (struct rex_grid){.teams = {rex_grid_chosen(teams), 1, 1},
                             .threads = {rex_grid_chosen(threads), 1, 1}};
}

/* Returns the grid of LAUNCH. A number that is 0 is chosen later. */
static inline struct rex_grid rex_grid_of_launch(const struct rex_launch_config *launch)
{
    struct rex_grid grid = {.dynamic_memory = launch->dynamic_memory};
    memcpy(grid.teams, launch->teams, sizeof grid.teams);
    memcpy(grid.threads, launch->threads, sizeof grid.threads);
    if (launch->flags & REX_LAUNCH_COOPERATIVE)
        grid.attributes = REX_ATTRIBUTE_COOPERATIVE;
    if ((launch->cluster[0] | launch->cluster[1] | launch->cluster[2]) == 0)
        return grid;
    grid.attributes |= REX_ATTRIBUTE_CLUSTER;
    for (int i = 0; i < 3; i++)
        grid.cluster[i] = launch->cluster[i] + (launch->cluster[i] == 0);
    return grid;
}

static inline void rex_packet_set_grid(struct __tgt_kernel_arguments *packet,
                                       const struct rex_grid *grid)
{
    memcpy(packet->Teams, grid->teams, sizeof packet->Teams);
    memcpy(packet->Threads, grid->threads, sizeof packet->Threads);
    packet->DynCGroupMem = (int32_t)grid->dynamic_memory;
}

/*
 * Returns the grid of a call with the packet ARGS. A packet of version 1 (clang 15) has no grid.
 * For such a packet the grid is TEAMS and THREADS, two arguments of the call.
 */
static inline struct rex_grid rex_grid_of_packet(const struct __tgt_kernel_arguments *args,
                                                 int32_t teams, int32_t threads)
{
    struct rex_grid grid = rex_grid_of_call(teams, threads);
    if (args->Version < 2)
        return grid;
    for (int i = 0; i < 3; i++) {
        grid.teams[i] = rex_grid_chosen(args->Teams[i]);
        grid.threads[i] = rex_grid_chosen(args->Threads[i]);
    }
    grid.dynamic_memory = (uint32_t)args->DynCGroupMem;
    return grid;
}

#endif
