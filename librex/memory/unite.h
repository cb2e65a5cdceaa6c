/*
 * unite.h - rows of one call with the same memory: their copies are united.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_UNITE_H
#define REX_INTERNAL_UNITE_H

#include "memory/rowcheck.h"

/*
 * Unite the copies of rows of MAP that are equal in begin and size, for a call on DEVICE: REX_FOR_
 * LAUNCH, BEGIN or END. MAP gets types of its own then, which the caller frees by *TYPES; the
 * caller's column stays as it is. Without such rows *TYPES is NULL, and MAP does not change. A map
 * without columns passes.
 *
 * Returns 0, REX_ENOMEM, or REX_EOVERLAP if the call maps a row, and a part of that row asks for a
 * copy that the row does not make. WHAT begins the message.
 */
int rex_rows_unite(struct rex_map *map, enum rex_purpose purpose, int64_t device, const char *what,
                   int64_t **types);

#endif
