/*
 * launch.h - a launch: from a description and a map, or from rows with a host key.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LAUNCH_H
#define REX_INTERNAL_LAUNCH_H

#include "launch/request.h"
#include "rex/launch.h"

/*
 * The hook that puts a launch, whose `queue` is not NULL, in its queue; MAP may be NULL. Returns 0
 * or an error. queue/enqueue.c sets it before main().
 */
extern int (*rex_launch_in_queue)(struct rex_module *module, const struct rex_launch_config *launch,
                                  const struct rex_map *map);

/*
 * As rex_module_launch_map() without a queue; only MAP may be NULL. PURPOSE selects the rules for
 * the rows: REX_FOR_LAUNCH, or REX_FOR_QUEUE, for which nothing may be mapped.
 */
int rex_launch_map(struct rex_module *module, const struct rex_launch_config *launch,
                   const struct rex_map *map, enum rex_purpose purpose);

/* Check as rex_launch_map() does, without a launch; 0 if there is no device. */
int rex_launch_check(struct rex_module *module, const struct rex_launch_config *launch,
                     const struct rex_map *map, enum rex_purpose purpose);

/*
 * Launch the kernel of MODULE, which is registered, with the host key KEY as REQUEST says. REQUEST
 * has all but the target and the number of its device. Returns as rex_module_launch().
 */
int rex_launch_packet(struct rex_module *module, const void *key, struct rex_request *request);

/* Pass the gate with NEED, and launch for the public function WHAT. ARGS may be NULL, an error. */
int rex_launch_arguments(struct rex_module *module, enum rex_need need, const char *what,
                         int64_t device, int32_t num_teams, int32_t thread_limit, void *host_key,
                         struct __tgt_kernel_arguments *args);

#endif
