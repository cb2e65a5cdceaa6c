/*
 * data.h - data calls of the raw kind, checked.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DATA_H
#define REX_INTERNAL_DATA_H

#include "rex/offload.h"

/* rex_module_check_map() without a line in the log. */
int rex_check_data_call(struct rex_module *module, int64_t device, int32_t count, void **base,
                        void **begin, const int64_t *sizes, const int64_t *types);

#endif
