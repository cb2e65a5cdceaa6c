/*
 * loose.h - makes memory loose, and pins the memory of calls that may find it loose.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOOSE_H
#define REX_INTERNAL_LOOSE_H

#include "present/mappings.h"

/*
 * Makes the memory of a call loose (loose: present.h). RANGES has the ranges of the call. Use this
 * function if the call has failed, or if the call may return before it is finished. Mappings beside
 * a row of size 0 become loose, too, because libomptarget may have counted a reference to them.
 * Memory that is absent now does not become loose: even an unfinished call maps its memory before
 * it returns.
 *
 * In two cases the driver makes no later launch: if the memory of the call is unknown, or if memory
 * for entries is short.
 */
void rex_loosen_call(struct rex_present_table *table, const struct rex_range_lock *ranges);

/*
 * RANGES has the ranges of a call that maps memory. Removes each loose entry in the ranges if
 * libomptarget no longer has the mapping. Then pins the ranges (present.h). If memory in the ranges
 * has become loose between the two steps, repeats both steps, up to 7 times.
 */
void rex_pin_looked_at(struct rex_present_table *table, struct rex_range_lock *ranges);

#endif
