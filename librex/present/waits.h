/*
 * waits.h - calls that wait in the present table. The caller of each function has locked the table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_WAITS_H
#define REX_INTERNAL_WAITS_H

#include "present/mappings.h"

/* Wakes the calls that wait, so that each checks again. */
static inline void rex_tell_change(struct rex_present_table *table)
{
    table->changes++;
    pthread_cond_broadcast(&table->changed);
}

/*
 * Begins a wait. A begin or an end is added to `at_work`, because launches and updates wait for it,
 * too.
 */
void rex_wait_begin(struct rex_present_table *table, struct rex_range_lock *ranges);

/*
 * Waits until another call leaves the table, or until `until` of WAIT. Warns once after a long
 * wait, because a kernel may be waiting for this thread.
 */
void rex_wait_for_change(struct rex_present_table *table, struct rex_table_wait *wait);

#endif
