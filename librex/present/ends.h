/*
 * ends.h - calls that end mappings, in the present table. Lock the table before you call one of
 * these functions.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ENDS_H
#define REX_INTERNAL_ENDS_H

#include "present/mappings.h"

/*
 * Returns true if the call END has to wait. END waits for:
 * - the users (struct rex_entry) of a mapping, if END may drop the last reference to the mapping;
 * - a call that makes or ends a mapping in the memory of END;
 * - an update call that copies a pointer that END detaches;
 * - older users of a mapping, if a begin call has added a reference while END waited. Example: END
 *   waits for launch A, a begin call adds a reference, and launch B starts. END still waits for A,
 *   but not for B (awaits_older() in ends.c).
 *
 * If END waits for users of a range, also counts the range in `awaited` and `held` of the range's
 * entries (struct rex_entry).
 */
bool rex_end_has_to_wait(struct rex_present_table *table, struct rex_range_lock *end);

/*
 * If IS_HELD is true, new launches and update calls must wait if they use memory of a range of END
 * with `needs_all` set (rex_range). If IS_HELD is false, they can go on. The function itself does
 * not wait.
 */
void rex_end_hold(struct rex_present_table *table, struct rex_range_lock *end, bool is_held);

/*
 * Call this when END no longer has to wait. If END may end the mapping of an entry, makes END the
 * owner of the entry. If END only drops references, makes END a user of the entry, and subtracts
 * the references from `refs` (struct rex_entry).
 */
void rex_end_goes_on(struct rex_present_table *table, struct rex_range_lock *end);

#endif
