/*
 * data.h - data calls of the raw kind, checked.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DATA_H
#define REX_INTERNAL_DATA_H

#include "omp/entrypoints.h"
#include "rex/map.h"
#include "rex/module.h"

/*
 * As rex_module_data_enter() and its end, with the rows of a launch. Rows larger than their mapping
 * may be implicit and copied back, because the same call has mapped the memory that they lie in.
 */
int rex_map_for_launch(struct rex_module *module, int64_t device, const struct rex_map *map);
int rex_unmap_after_launch(int64_t device, const struct rex_map *map);

/* rex_module_target_data() without a module: some module is registered. */
int rex_pass_data_call(enum rex_data_call call, MAP_P);

#endif
