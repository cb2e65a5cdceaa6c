/*
 * ends.h - ends of mappings in the present table. The caller of each function has locked the table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ENDS_H
#define REX_INTERNAL_ENDS_H

#include "present/mappings.h"

/*
 * Returns true if END has to wait. It waits for users of a mapping that it may end last, or for a
 * call that makes or ends an entry. Marks the memory for which it waits.
 */
bool rex_end_has_to_wait(struct rex_present_table *table, struct rex_range_lock *end);

/*
 * If IS_HELD is true, launches and updates of ranges with `needs_all` wait from now on. If it is
 * false, they go on. The function itself does not wait.
 */
void rex_end_hold(struct rex_present_table *table, struct rex_range_lock *end, bool is_held);

/*
 * Lets END go on. Makes END the owner of each entry whose mapping it may end. For each other entry,
 * makes END a user, and subtracts the references of END.
 */
void rex_end_goes_on(struct rex_present_table *table, struct rex_range_lock *end);

#endif
