/*
 * mapped.h - a launch by the driver whose rows libomptarget maps.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAPPED_H
#define REX_INTERNAL_MAPPED_H

#include "module/modules.h"
#include "omp/sender.h"
#include "rex/launch.h"
#include "rex/map.h"

/* What stands against the driver because of rows: a data call of libomptarget's makes it good. */
#define REX_AGAINST_MAPPING                                                        \
    ((unsigned)(REX_AGAINST_UNSEEN_CALLS | REX_AGAINST_MAPPER | REX_AGAINST_TYPE | \
                REX_AGAINST_UNSEEN | REX_AGAINST_OVERLAP))

/*
 * The same as rex_launch_by_driver(), of a TARGET that no more stands against than that, and that
 * libomptarget cannot launch either; of others nothing is done.
 */
int rex_launch_mapped(struct rex_target *target, const struct rex_launch_config *launch,
                      const struct rex_map *map);

#endif
