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
 * both directions. IS_RAW is true for the raw calls of a compiler's code: the function does not
 * compare their attached pointers. DEVICE is the device of the call, and PURPOSE is that of a
 * launch, a begin call or an end call. If rows overlap and ask for different copies, MAP gets a new
 * column of types in *TYPES; the caller frees *TYPES. The old column does not change. If no rows
 * ask for different copies, *TYPES is NULL, and MAP does not change. A map without columns is not
 * checked (rex_has_columns()).
 *
 * Returns REX_EOVERLAP if a row lies in an earlier row that the call maps, and needs a copy that
 * the earlier row lacks. For an end call the function does not return REX_EOVERLAP. Returns
 * REX_ENOMEM if memory is short. In all other cases returns 0. The message begins with WHAT.
 */
int rex_rows_unite(struct rex_map *map, bool is_raw, enum rex_purpose purpose, int64_t device,
                   const char *what, int64_t **types);

#endif
