/*
 * exclude.h - which calls exclude each other; the caller holds the lock of the table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_EXCLUDE_H
#define REX_INTERNAL_EXCLUDE_H

#include "omp/backend.h"
#include "present/lookup.h"
#include "present/mappings.h"

/*
 * Returns true if the driver may use mappings, or a call at work may use it, or if libomptarget may
 * delete a mapping that a call has found. If false, only libomptarget uses mappings, and no call
 * waits for users.
 */
static inline bool rex_is_in_force(const struct rex_present_table *table)
{
    return table->by_driver > 0 || rex_process_reasons() == 0 || rex_found_may_be_deleted();
}

/*
 * Returns true if RANGES must wait with RANGE because of OTHER. *FIRST is 0 for the first range of
 * RANGES. If the ranges are in order, *FIRST skips those of OTHER that end before RANGE.
 */
bool rex_range_meets(const struct rex_range_lock *ranges, const struct rex_range *range,
                     const struct rex_range_lock *other, size_t *first, bool is_in_force);

/* Returns the first call at work for which RANGES must wait; NULL if there is none. */
const struct rex_range_lock *rex_find_met(const struct rex_present_table *table,
                                          const struct rex_range_lock *ranges);

/*
 * Returns true if a call with RANGE excludes a call at work on ENTRY: one attaches a pointer, and
 * the other is an update.
 */
static inline bool rex_attach_excludes(const struct rex_range_lock *ranges,
                                       const struct rex_range *range, const struct rex_entry *entry)
{
    return (range->attaches && entry->updates > 0) ||
           (ranges->call == REX_CALL_UPDATES && entry->attaching > 0);
}

/* Add and remove a call that uses memory without an entry, or waits for it. */
void rex_at_work_add(struct rex_present_table *table, struct rex_range_lock *ranges);
void rex_at_work_remove(struct rex_present_table *table, struct rex_range_lock *ranges);

#endif
