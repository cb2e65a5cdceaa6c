/*
 * waits.h - calls that wait; the caller holds the lock of the table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_WAITS_H
#define REX_INTERNAL_WAITS_H

#include "present/mappings.h"

/* Wakes the calls that wait. */
static inline void rex_tell_change(struct rex_present_table *table)
{
    table->changes++;
    pthread_cond_broadcast(&table->changed);
}

/* Begins a wait. Lists the call if others give way to it. */
void rex_wait_begin(struct rex_present_table *table, struct rex_range_lock *ranges);

/*
 * Waits until another call leaves, or until the window ends. Warns of a long wait once, because a
 * kernel may wait for this thread.
 */
void rex_wait_for_change(struct rex_present_table *table, struct rex_table_wait *wait);

#endif
