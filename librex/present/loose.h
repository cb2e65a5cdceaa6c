/*
 * loose.h - memory that libomptarget may still use or end.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOOSE_H
#define REX_INTERNAL_LOOSE_H

#include "present/mappings.h"

/*
 * The call may return before it is done, or has failed: its memory is loose, and so is what its
 * rows of no length have counted. A call that is to be over later has mapped its memory already:
 * what is absent is over. The driver launches no more if the call does not tell its memory,
 * or if there is no memory for the entries.
 */
void rex_loosen_call(struct rex_present_table *table, const struct rex_range_lock *ranges);

/*
 * Pins a call that maps after a look at its loose memory. Looks again if memory has become loose in
 * between.
 */
void rex_pin_looked_at(struct rex_present_table *table, struct rex_range_lock *ranges);

#endif
