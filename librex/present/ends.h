/*
 * ends.h - ends in the present table; the caller holds the lock of the table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ENDS_H
#define REX_INTERNAL_ENDS_H

#include "present/mappings.h"

/* Whether the end has to wait: for a call that changes an entry, or for users. */
bool rex_end_has_to_wait(struct rex_present_table *table, struct rex_range_lock *end);

/*
 * Launches and updates of what the end has to have for itself wait from now on, or no longer. It
 * does not wait for users.
 */
void rex_end_hold(struct rex_present_table *table, struct rex_range_lock *end, bool is_held);

/* The end owns what it is the last of, and takes its references of the rest. */
void rex_end_goes_on(struct rex_present_table *table, struct rex_range_lock *end);

#endif
