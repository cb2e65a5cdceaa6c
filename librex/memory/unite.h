/*
 * unite.h - rows of one call with the same memory: their copies are united.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_UNITE_H
#define REX_INTERNAL_UNITE_H

#include "memory/rowcheck.h"

/*
 * Unites the copies of rows of MAP with equal begin and size, for a call on DEVICE. PURPOSE is a
 * launch, a begin or an end. If rows overlap, MAP gets types of its own, which the caller frees by
 * *TYPES; the caller's column does not change. Otherwise *TYPES is NULL, and MAP does not change. A
 * map without columns passes.
 *
 * Returns 0, REX_ENOMEM, or REX_EOVERLAP if the call maps a row, and a part of that row asks for a
 * copy that the row does not make. The message begins with WHAT.
 */
int rex_rows_unite(struct rex_map *map, enum rex_purpose purpose, int64_t device, const char *what,
                   int64_t **types);

#endif
