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
 * Whether the driver may use mappings, or does at the moment. Otherwise only libomptarget does, and
 * no call waits for users, unless libomptarget may delete what a user has found.
 */
static inline bool rex_is_in_force(const struct rex_present_table *table)
{
    return table->by_driver > 0 || rex_process_reasons() == 0 || rex_found_may_be_deleted();
}

/*
 * Whether RANGES cannot go on with RANGE beside OTHER. *FIRST is 0 for the first one of RANGES. If
 * they are in order, the loop skips those that end before RANGE, or begin behind it.
 */
bool rex_range_meets(const struct rex_range_lock *ranges, const struct rex_range *range,
                     const struct rex_range_lock *other, size_t *first, bool is_in_force);

/* The first call at work that RANGES meets; NULL if there is none. */
const struct rex_range_lock *rex_find_met(const struct rex_present_table *table,
                                          const struct rex_range_lock *ranges);

/* Whether a call with RANGE excludes one at work with ENTRY, because one of them attaches. */
static inline bool rex_attach_excludes(const struct rex_range_lock *ranges,
                                       const struct rex_range *range, const struct rex_entry *entry)
{
    return (range->attaches && entry->updates > 0) ||
           (ranges->call == REX_CALL_UPDATES && entry->attaching > 0);
}

/* The list of the calls that use memory without an entry, or wait for it. */
void rex_at_work_add(struct rex_present_table *table, struct rex_range_lock *ranges);
void rex_at_work_remove(struct rex_present_table *table, struct rex_range_lock *ranges);

#endif
