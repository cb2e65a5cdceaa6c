/*
 * unite.h - if rows of one call have equal memory, gives each of them the copies of all.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_UNITE_H
#define REX_INTERNAL_UNITE_H

#include "memory/rowcheck.h"

/*
 * If rows of MAP have equal memory, gives each of these rows the directions of all these rows. For
 * example, a row that copies an array to the device and a row that copies the array back both get
 * both directions.
 *
 * DEVICE is the device of the call. PURPOSE is that of a launch, a begin call or an end call.
 * IS_RAW is true for the raw calls of a compiler's code: the function does not compare the memory
 * of attached pointers in such calls. A map without columns is not checked (rex_has_columns()).
 *
 * If rows overlap and rows ask for different copies, the function makes a new column of types, and
 * sets *TYPES and `types` of MAP to the new column. The old column does not change. The caller
 * frees *TYPES, even after an error. If no rows overlap, or all ask for the same copies, *TYPES is
 * NULL, and MAP does not change.
 *
 * Returns REX_EOVERLAP if a row lies in an earlier row that the call maps, and needs a copy that
 * the earlier row lacks. For an end call the function does not return REX_EOVERLAP. Returns
 * REX_ENOMEM if memory is short. In all other cases returns 0. The message begins with WHAT.
 */
int rex_rows_unite(struct rex_map *map, bool is_raw, enum rex_purpose purpose, int64_t device,
                   const char *what, int64_t **types);

#endif
