/*
 * exclude.h - rules for calls that exclude each other. If two calls exclude each other, the later
 * call waits until the earlier call leaves the present table. The caller of each function has
 * locked the table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_EXCLUDE_H
#define REX_INTERNAL_EXCLUDE_H

#include "omp/backend.h"
#include "present/lookup.h"
#include "present/mappings.h"

/*
 * Returns true if all rules about calls that exclude each other are in force. They are in force if
 * one of three conditions is true:
 * - the driver may use mappings;
 * - a launch by the driver or an update call is at work (`by_driver`);
 * - libomptarget may delete a mapping that another call has found (rex_found_may_be_deleted()).
 *
 * If no condition is true, only libomptarget uses mappings, and fewer calls exclude each other.
 */
static inline bool rex_is_in_force(const struct rex_present_table *table)
{
    return table->by_driver > 0 || rex_process_reasons() == 0 || rex_found_may_be_deleted();
}

/*
 * RANGES and OTHER are the ranges of two calls. RANGE is an element of RANGES. Returns true if,
 * because of RANGE, the call of RANGES must wait for the call of OTHER. IS_IN_FORCE is the result
 * of rex_is_in_force().
 *
 * *FIRST is the index of the first range of OTHER to compare. Set *FIRST to 0 before the first
 * range of RANGES. If `is_ordered` of RANGES is true, the function increases *FIRST to skip the
 * ranges of OTHER that end before RANGE.
 */
bool rex_range_meets(const struct rex_range_lock *ranges, const struct rex_range *range,
                     const struct rex_range_lock *other, size_t *first, bool is_in_force);

/* Returns the first call in `at_work` for which the call RANGES must wait, or NULL. */
const struct rex_range_lock *rex_find_met(const struct rex_present_table *table,
                                          const struct rex_range_lock *ranges);

/*
 * Returns true if the call RANGES excludes a user of ENTRY because of RANGE: one call attaches a
 * pointer in ENTRY, and the other call is an update call. Example: one call attaches s.p, and an
 * update call copies s to the device. The copy would overwrite the device's s.p with the host
 * pointer.
 */
static inline bool rex_attach_excludes(const struct rex_range_lock *ranges,
                                       const struct rex_range *range, const struct rex_entry *entry)
{
    return (range->attaches && entry->updates > 0) ||
           (ranges->call == REX_CALL_UPDATES && entry->attaching > 0);
}

/*
 * rex_at_work_add() adds the call RANGES to `at_work` of TABLE. The call uses memory without an
 * entry, or is a begin call or an end call that waits. rex_at_work_remove() removes the call.
 */
void rex_at_work_add(struct rex_present_table *table, struct rex_range_lock *ranges);
void rex_at_work_remove(struct rex_present_table *table, struct rex_range_lock *ranges);

#endif
