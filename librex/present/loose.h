/*
 * loose.h - memory that libomptarget may still use or end.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOOSE_H
#define REX_INTERNAL_LOOSE_H

#include "present/mappings.h"

/*
 * Makes the memory of RANGES loose, because the call may be unfinished when it returns, or has
 * failed. Mappings that its rows of no length may have counted become loose, too. Absent memory
 * does not become loose: a call that ends later has mapped its memory already. The driver launches
 * no more if the call's memory is unknown, or if memory for the entries is short.
 */
void rex_loosen_call(struct rex_present_table *table, const struct rex_range_lock *ranges);

/*
 * Examines the loose memory of a call that maps, then pins its ranges. Does so again if memory has
 * become loose in between.
 */
void rex_pin_looked_at(struct rex_present_table *table, struct rex_range_lock *ranges);

#endif
