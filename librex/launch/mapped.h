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

/* Fallback reasons of rows that disappear if libomptarget maps the rows by a data call. */
#define REX_AGAINST_MAPPING                                                        \
    ((unsigned)(REX_AGAINST_UNSEEN_CALLS | REX_AGAINST_MAPPER | REX_AGAINST_TYPE | \
                REX_AGAINST_UNSEEN | REX_AGAINST_OVERLAP))

/*
 * As rex_launch_by_driver(), for a TARGET that has only these fallback reasons and that
 * libomptarget cannot launch. For another TARGET this does nothing.
 */
int rex_launch_mapped(struct rex_target *target, const struct rex_launch_config *launch,
                      const struct rex_map *map);

#endif
