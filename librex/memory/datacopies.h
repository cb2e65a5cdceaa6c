/*
 * datacopies.h - rows of data calls that librex copies itself.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DATACOPIES_H
#define REX_INTERNAL_DATACOPIES_H

#include "memory/rowcheck.h"

/*
 * Make a data call on DEVICE, whose number is NUMBER: rex_rows_begin() a begin, rex_rows_update()
 * an update. WHAT names the call in messages. The call has entered the present table
 * (rex_present_enter()). librex copies the rows that it can copy; libomptarget copies the others.
 * Return the result of rex_call_data().
 */
int rex_rows_begin(const char *what, int64_t device, int number, const struct rex_map *map);
int rex_rows_update(const char *what, int64_t device, int number, const struct rex_map *map);

/*
 * Copies back rows of MAP before a call ends their mappings. The call has entered the present
 * table. Returns a malloc()ed column of types for the call, without REX_MAP_FROM for the rows that
 * librex has copied. If it returns NULL, the call uses MAP's own types.
 */
int64_t *rex_rows_copy_back(const struct rex_map *map, int number);

#endif
