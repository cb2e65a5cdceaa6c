/*
 * launch.h - the functions that launch: with a description and a map, or with a packet and a host
 * key.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LAUNCH_H
#define REX_INTERNAL_LAUNCH_H

#include "launch/request.h"
#include "module/registry.h"
#include "rex/launch.h"

/*
 * The hook that puts LAUNCH in its queue. Call it only if `queue` of LAUNCH is not NULL. MAP may be
 * NULL. Returns 0 or an error. queue/enqueue.c sets the hook before main().
 */
extern int (*rex_launch_in_queue)(struct rex_module *module, const struct rex_launch_config *launch,
                                  const struct rex_map *map);

/* Returns true if librex chooses the grid of LAUNCH by REX_LAUNCH_GRID_STRIDE. */
static inline bool rex_launch_strides(const struct rex_launch_config *launch)
{
    return (launch->flags & (REX_LAUNCH_GRID_STRIDE | REX_LAUNCH_STRICT)) == REX_LAUNCH_GRID_STRIDE;
}

/*
 * Chooses the grid of LAUNCH by REX_LAUNCH_GRID_STRIDE for the device `device` of LAUNCH, and
 * launches by rex_module_launch_map(). MAP may be NULL.
 */
int rex_launch_grid_stride(struct rex_module *module, const struct rex_launch_config *launch,
                           const struct rex_map *map);

/*
 * Launches at once, like rex_module_launch_map() without a queue. Only MAP may be NULL. PURPOSE
 * selects the rules for the rows: REX_FOR_LAUNCH, or REX_FOR_QUEUE for a queue that executes
 * commands at once. With REX_FOR_QUEUE the launch maps nothing.
 */
int rex_launch_map(struct rex_module *module, const struct rex_launch_config *launch,
                   const struct rex_map *map, enum rex_purpose purpose);

/*
 * Makes the checks of rex_launch_map(), and launches nothing. If offloading is disabled or the
 * device is the host, checks only the rows.
 */
int rex_launch_check(struct rex_module *module, const struct rex_launch_config *launch,
                     const struct rex_map *map, enum rex_purpose purpose);

/*
 * Launches the kernel of MODULE that has the host key KEY. Call this only if MODULE is registered.
 * The caller sets all members of REQUEST except `target` and `number`. Returns what
 * rex_module_launch() returns.
 */
int rex_launch_packet(struct rex_module *module, const void *key, struct rex_request *request);

/*
 * Enters the gate by rex_module_enter() and launches. NEED is a condition of the launch, such as
 * that MODULE is registered. Messages name WHAT, a public function. Fails if ARGS is NULL.
 */
int rex_launch_arguments(struct rex_module *module, enum rex_need need, const char *what,
                         int64_t device, int32_t num_teams, int32_t thread_limit, void *host_key,
                         struct __tgt_kernel_arguments *args);

#endif
