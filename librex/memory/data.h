/*
 * data.h - the data calls of a launch, and raw data calls.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DATA_H
#define REX_INTERNAL_DATA_H

#include "omp/entrypoints.h"
#include "rex/map.h"
#include "rex/module.h"

/*
 * Maps the rows of a launch, as rex_module_data_enter() does, or ends their mappings. The end does
 * not refuse an implicit row that is copied back and is larger than its mapping. The launch has
 * mapped the memory that such a row lies in.
 */
int rex_map_for_launch(struct rex_module *module, int64_t device, const struct rex_map *map);
int rex_unmap_after_launch(int64_t device, const struct rex_map *map);

/*
 * Checks and makes a raw data call, for rex_module_target_data(). At least one module is
 * registered.
 */
int rex_pass_data_call(enum rex_data_call call, MAP_P);

#endif
