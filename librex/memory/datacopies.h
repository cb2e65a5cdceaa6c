/*
 * datacopies.h - rows of data calls that librex copies itself.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DATACOPIES_H
#define REX_INTERNAL_DATACOPIES_H

#include "memory/rowcheck.h"

/*
 * As rex_call_data() for REX_DATA_BEGIN and REX_DATA_UPDATE on DEVICE, whose number is NUMBER. The
 * call has entered the present table (rex_present_enter()).
 */
int rex_rows_begin(const char *what, int64_t device, int number, const struct rex_map *map);
int rex_rows_update(const char *what, int64_t device, int number, const struct rex_map *map);

/*
 * Copy back those rows of MAP whose mappings a call is about to end; the call has entered the
 * present table. Returns the types for the call, which the caller frees; NULL: MAP's own types.
 */
int64_t *rex_rows_copy_back(const struct rex_map *map, int number);

#endif
