/*
 * ends.h - ends in the present table; the caller holds the lock of the table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ENDS_H
#define REX_INTERNAL_ENDS_H

#include "present/mappings.h"

/* Returns true if END has to wait for users, or for a call that changes an entry. */
bool rex_end_has_to_wait(struct rex_present_table *table, struct rex_range_lock *end);

/*
 * If IS_HELD, launches and updates of the memory that END needs for itself wait; else they go on.
 * Does not wait for users.
 */
void rex_end_hold(struct rex_present_table *table, struct rex_range_lock *end, bool is_held);

/*
 * Makes END the owner of each entry that it may end, and subtracts its references from the others.
 */
void rex_end_goes_on(struct rex_present_table *table, struct rex_range_lock *end);

#endif
