/*
 * bydriver.h - a launch that is waited for, sent by the CUDA driver.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BYDRIVER_H
#define REX_INTERNAL_BYDRIVER_H

#include "module/modules.h"
#include "rex/launch.h"
#include "rex/map.h"

/*
 * Launch TARGET as LAUNCH says (but for key and device) with the rows of MAP, and wait: 0 or an
 * error, unless TARGET says then what stands against the driver: nothing has been done, and the
 * launch is libomptarget's.
 */
int rex_launch_by_driver(struct rex_target *target, const struct rex_launch_config *launch,
                         const struct rex_map *map);

/* The same where libomptarget has mapped all rows of MAP for the launch. */
int rex_launch_mapped_by_driver(struct rex_target *target, const struct rex_launch_config *launch,
                                const struct rex_map *map);

/* Whether launches of REGISTRATION's kernels may ever go by the driver. */
static inline bool rex_may_go_by_driver(const struct rex_registration *registration)
{
    return rex_sender_for(rex_against_all() | registration->against) == REX_SENDER_DRIVER;
}

/*
 * A launch of TARGET goes to libomptarget, for what stands against the driver: 0; or, where
 * REX_LAUNCH_BY=driver, REX_EUNSUPPORTED.
 */
int rex_let_runtime_launch(const struct rex_target *target);

#endif
