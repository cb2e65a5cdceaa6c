/*
 * launch.h - a launch, given by a description and a map, or by a packet with a host key.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LAUNCH_H
#define REX_INTERNAL_LAUNCH_H

#include "launch/request.h"
#include "module/registry.h"
#include "rex/launch.h"

/*
 * The hook that puts LAUNCH, whose `queue` is not NULL, in its queue. MAP may be NULL. Returns 0 or
 * an error. queue/enqueue.c sets the hook before main().
 */
extern int (*rex_launch_in_queue)(struct rex_module *module, const struct rex_launch_config *launch,
                                  const struct rex_map *map);

/*
 * Launches as rex_module_launch_map() does, without a queue; only MAP may be NULL. PURPOSE selects
 * the rules for the rows: REX_FOR_LAUNCH, or REX_FOR_QUEUE, with which a launch maps nothing.
 */
int rex_launch_map(struct rex_module *module, const struct rex_launch_config *launch,
                   const struct rex_map *map, enum rex_purpose purpose);

/* Checks as rex_launch_map() does, and launches nothing. Without a device, checks only the rows. */
int rex_launch_check(struct rex_module *module, const struct rex_launch_config *launch,
                     const struct rex_map *map, enum rex_purpose purpose);

/*
 * Launches the kernel of MODULE, which is registered, with the host key KEY. The caller sets all of
 * REQUEST but `target` and `number`. Returns the results of rex_module_launch().
 */
int rex_launch_packet(struct rex_module *module, const void *key, struct rex_request *request);

/* Passes the gate with NEED, and launches for the public function WHAT. NULL ARGS are an error. */
int rex_launch_arguments(struct rex_module *module, enum rex_need need, const char *what,
                         int64_t device, int32_t num_teams, int32_t thread_limit, void *host_key,
                         struct __tgt_kernel_arguments *args);

#endif
