/*
 * loose.h - makes memory loose, and pins the memory of calls that may find it loose.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOOSE_H
#define REX_INTERNAL_LOOSE_H

#include "present/mappings.h"

/*
 * Makes the memory of the call RANGES loose. Call this if the call may be unfinished when it
 * returns, or has failed. Mappings beside a row of no length become loose, too, because
 * libomptarget may have counted a reference to them. Absent memory does not become loose: an
 * unfinished call has already mapped its memory. The driver launches no more in two cases: the
 * memory of the call is unknown, or memory for entries is short.
 */
void rex_loosen_call(struct rex_present_table *table, const struct rex_range_lock *ranges);

/*
 * RANGES is a call that maps memory. Removes each loose entry in this memory if libomptarget no
 * longer has the mapping. Then pins the ranges. Repeats both steps if memory has become loose in
 * between.
 */
void rex_pin_looked_at(struct rex_present_table *table, struct rex_range_lock *ranges);

#endif
