/*
 * data.h - the data calls of a launch, and raw data calls, which have the arguments of
 * libomptarget's functions.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DATA_H
#define REX_INTERNAL_DATA_H

#include "omp/entrypoints.h"
#include "rex/map.h"
#include "rex/module.h"

/*
 * rex_map_for_launch() maps the rows of a launch, as rex_module_data_enter() does.
 * rex_unmap_after_launch() ends these mappings.
 *
 * An implicit row that is copied back may be larger than its mapping. Example: the row a[0:20], if
 * only a[0:10] is mapped. rex_module_data_exit() and rex_module_region_end() refuse the row.
 * rex_unmap_after_launch() does not refuse the row, because rex_map_for_launch() has not refused
 * it.
 */
int rex_map_for_launch(struct rex_module *module, int64_t device, const struct rex_map *map);
int rex_unmap_after_launch(int64_t device, const struct rex_map *map);

/*
 * Checks a raw data call (rex_module_target_data()), and makes the call. Use this only while at
 * least one module is registered.
 */
int rex_pass_data_call(enum rex_data_call call, MAP_P);

#endif
