/*
 * presence.h - rows against what is mapped on a device.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PRESENCE_H
#define REX_INTERNAL_PRESENCE_H

#include "memory/rowcheck.h"
#include "omp/present.h"

/*
 * Check MAP against what is mapped on device NUMBER: 0, REX_EABSENT or REX_EOVERLAP. NEW_ROWS,
 * which is open, gets the rows that the call will map anew.
 */
int rex_check_presence(const struct rex_map *map, enum rex_purpose purpose, int number,
                       const char *what, struct rex_new_rows *new_rows);

/* The call has mapped them. */
void rex_new_rows_are_mapped(struct rex_new_rows *new_rows, const struct rex_map *map,
                             enum rex_purpose purpose, int number);

/* Whether row I of MAP has to be looked for among what is mapped. */
bool rex_row_is_looked_up(const struct rex_map *map, int32_t i, enum rex_purpose purpose);

/*
 * Whether the COUNT rows of MAP that ROWS names were found on device NUMBER, and no mapping may
 * have ended since.
 */
bool rex_rows_were_found(const struct rex_map *map, const int32_t *rows, int32_t count, int number);

/* Row ROW of a call, SIZE bytes at BEGIN, is not present whole: REX_EABSENT. */
int rex_fail_absent(enum rex_purpose purpose, const char *what, const struct rex_map *map,
                    int32_t row, const void *begin, int64_t size, enum rex_presence presence,
                    int number);

/* As rex_memory_presence(), after the image has been loaded on the device: that maps globals. */
enum rex_presence rex_presence_after_load(const void *begin, size_t size, int number);

#endif
