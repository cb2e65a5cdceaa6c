/*
 * bydriver.h - a synchronous launch by the CUDA driver.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BYDRIVER_H
#define REX_INTERNAL_BYDRIVER_H

#include "module/modules.h"
#include "rex/launch.h"
#include "rex/map.h"

/*
 * Launch TARGET as LAUNCH says (except its key and device) with the rows of MAP, and wait. Returns
 * 0 or an error. If TARGET has fallback reasons afterwards, nothing has been done, and libomptarget
 * has to launch.
 */
int rex_launch_by_driver(struct rex_target *target, const struct rex_launch_config *launch,
                         const struct rex_map *map);

/* The same after libomptarget has mapped all rows of MAP for the launch. */
int rex_launch_mapped_by_driver(struct rex_target *target, const struct rex_launch_config *launch,
                                const struct rex_map *map);

/* Whether the driver may ever launch kernels of REGISTRATION. */
static inline bool rex_may_go_by_driver(const struct rex_registration *registration)
{
    return rex_sender_for(rex_against_all() | registration->against) == REX_SENDER_DRIVER;
}

/*
 * Called before libomptarget launches TARGET for a fallback reason: 0, or REX_EUNSUPPORTED if
 * REX_LAUNCH_BY=driver.
 */
int rex_let_runtime_launch(const struct rex_target *target);

#endif
