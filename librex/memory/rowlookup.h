/*
 * rowlookup.h - checks rows against the mappings on a device.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ROWLOOKUP_H
#define REX_INTERNAL_ROWLOOKUP_H

#include "memory/rowcheck.h"
#include "present/lookup.h"
#include "present/present.h"

/*
 * Check MAP against the mappings on device NUMBER: 0, REX_EABSENT, REX_EOVERLAP or REX_ENOMEM.
 * RANGES is what the present table has of the rows, if the call has entered it, or NULL.
 */
int rex_check_presence(const struct rex_map *map, enum rex_purpose purpose, int number,
                       const char *what, const struct rex_range_lock *ranges);

/* Fails with REX_EABSENT: row ROW, SIZE bytes at BEGIN, is not present whole. */
int rex_fail_absent(enum rex_purpose purpose, const char *what, const struct rex_map *map,
                    int32_t row, const void *begin, int64_t size, enum rex_presence presence,
                    int number);

/* Loads the image on the device, which maps its globals, then works as rex_memory_presence(). */
enum rex_presence rex_presence_after_load(const void *begin, size_t size, int number);

/* Whether libomptarget has no mapping of memory either that the present table has none of. */
bool rex_is_absent(const void *begin, size_t size, int number);

#endif
