/*
 * data.h - data calls of the raw kind, checked.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DATA_H
#define REX_INTERNAL_DATA_H

#include "rex/map.h"
#include "rex/offload.h"

/*
 * As rex_module_data_enter() and its end, with the rows of a launch. Rows larger than their mapping
 * may be implicit and copied back, because the same call has mapped the memory that they lie in.
 */
int rex_map_for_launch(struct rex_module *module, int64_t device, const struct rex_map *map);
int rex_unmap_after_launch(int64_t device, const struct rex_map *map);

/* rex_module_check_map() without the log. */
int rex_check_data_call(int64_t device, int32_t count, void **base, void **begin,
                        const int64_t *sizes, const int64_t *types);

#endif
