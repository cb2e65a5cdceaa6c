/*
 * ends.h - ends of mappings in the present table. The caller of each function has locked the table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ENDS_H
#define REX_INTERNAL_ENDS_H

#include "present/mappings.h"

/*
 * Returns true if the call END has to wait. END waits for:
 * - the users (struct rex_entry) of a mapping, if END may be the last end of the mapping;
 * - a call that makes or ends a mapping in the memory of END;
 * - an update of a pointer that END detaches;
 * - older users of a mapping, if a begin has added a reference while END waited. Example: END waits
 *   for launch A, a begin adds a reference, and launch B starts. END still waits for A, but not for
 *   B (awaits_older() in ends.c).
 *
 * If a range of END waits for users, also counts the range in `awaited` and `held` of its entries
 * (struct rex_entry).
 */
bool rex_end_has_to_wait(struct rex_present_table *table, struct rex_range_lock *end);

/*
 * If IS_HELD is true, makes launches and updates wait from now on if they use memory of a range of
 * END with `needs_all` (struct rex_range). If IS_HELD is false, lets these launches and updates go
 * on. The function itself does not wait.
 */
void rex_end_hold(struct rex_present_table *table, struct rex_range_lock *end, bool is_held);

/*
 * Called when END no longer has to wait. Makes END the owner of each entry whose mapping END may
 * end, and a user of its other entries (struct rex_entry). Subtracts the references that END drops
 * from `refs` of these other entries.
 */
void rex_end_goes_on(struct rex_present_table *table, struct rex_range_lock *end);

#endif
