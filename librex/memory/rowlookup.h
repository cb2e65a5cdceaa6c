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
 * Checks MAP against the mappings on device NUMBER. Returns 0, REX_EABSENT, REX_EOVERLAP or
 * REX_ENOMEM. RANGES has the ranges of the rows in the present table. RANGES is NULL if the call
 * has not entered the table.
 */
int rex_check_presence(const struct rex_map *map, enum rex_purpose purpose, int number,
                       const char *what, const struct rex_range_lock *ranges);

/*
 * Fails with REX_EABSENT, because WANTED, a span of a row of MAP, is not mapped or is mapped only
 * in part. PRESENCE says which.
 */
int rex_fail_absent(enum rex_purpose purpose, const char *what, const struct rex_map *map,
                    const struct rex_row_span *wanted, enum rex_presence presence, int number);

/*
 * Loads the images on device NUMBER, so that libomptarget maps the globals of the images. Then
 * returns rex_memory_presence() of the SIZE bytes at BEGIN.
 */
enum rex_presence rex_presence_after_load(const void *begin, size_t size, int number);

/*
 * Call this if the present table lacks the SIZE bytes at BEGIN: a call that librex did not see may
 * have mapped them. Returns true if libomptarget has no mapping of these bytes.
 */
bool rex_is_absent(const void *begin, size_t size, int number);

#endif
