/*
 * datacopies.h - rows of data calls that librex copies itself.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DATACOPIES_H
#define REX_INTERNAL_DATACOPIES_H

#include "memory/rowcheck.h"

/*
 * Makes the data call WHAT, a begin or an update, on DEVICE, whose number is NUMBER. Copies rows
 * itself if it can. Returns what rex_call_data() returns. The call has entered the present table
 * (rex_present_enter()).
 */
int rex_rows_begin(const char *what, int64_t device, int number, const struct rex_map *map);
int rex_rows_update(const char *what, int64_t device, int number, const struct rex_map *map);

/*
 * Copies back the rows of MAP whose mappings a call will end, if it can. The call has entered the
 * present table. Returns types for the call, which no longer copy these rows and which the caller
 * frees. Returns NULL if the call needs MAP's own types.
 */
int64_t *rex_rows_copy_back(const struct rex_map *map, int number);

#endif
