/*
 * datacopies.h - rows of data calls that librex copies itself.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DATACOPIES_H
#define REX_INTERNAL_DATACOPIES_H

#include "memory/rowcheck.h"

/*
 * rex_rows_begin() maps the rows of MAP on DEVICE. rex_rows_update() copies the rows between the
 * host and DEVICE. DEVICE may be -1, the default device; NUMBER is then the number of the default
 * device. WHAT names the call in messages. Call these functions only between rex_present_enter()
 * and rex_present_leave(). librex copies the rows that it can copy, and libomptarget copies all
 * other rows. Both functions return the result of rex_call_data().
 */
int rex_rows_begin(const char *what, int64_t device, int number, const struct rex_map *map);
int rex_rows_update(const char *what, int64_t device, int number, const struct rex_map *map);

/*
 * Copies rows of MAP back to the host, before an end call ends their mappings. Use this only after
 * the end call has entered the present table. Returns a malloc()ed column of types for the end
 * call, without REX_MAP_FROM for the rows that librex has copied. If the result is NULL, the end
 * call uses the types of MAP.
 */
int64_t *rex_rows_copy_back(const struct rex_map *map, int number);

#endif
