/*
 * waits.h - calls that wait in the present table. Lock the table before you call these functions.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_WAITS_H
#define REX_INTERNAL_WAITS_H

#include "present/mappings.h"

/* Wakes the calls that wait, so that each checks again if it must wait. */
static inline void rex_tell_change(struct rex_present_table *table)
{
    table->changes++;
    pthread_cond_broadcast(&table->changed);
}

/*
 * Starts the wait of the call of RANGES, if the call does not wait yet. If the call is a begin call
 * or end call, adds it to `at_work`, so that launches and update calls wait for it (struct
 * rex_table_wait).
 */
void rex_wait_begin(struct rex_present_table *table, struct rex_range_lock *ranges);

/*
 * Waits until another call changes the table, but at most until `until` of WAIT. The caller then
 * checks again whether the call of WAIT has to wait. Warns once after a long wait, because a kernel
 * may be waiting for this thread.
 */
void rex_wait_for_change(struct rex_present_table *table, struct rex_table_wait *wait);

#endif
