/*
 * exclude.c - rules for calls that exclude each other, and the list of calls that use memory
 * without an entry.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/exclude.h"

#include "base/assert.h"

/* Returns true if libomptarget maps absent memory in calls of the kind of RANGES. */
static bool maps(const struct rex_range_lock *ranges)
{
    return ranges->call == REX_CALL_LAUNCHES || ranges->call == REX_CALL_BEGINS;
}

static bool is_mapped_anew(const struct rex_range *range)
{
    return !range->is_whole && range->counts != REX_COUNTS_NONE && !range->attaches;
}

static bool are_same_bytes(const struct rex_range *range, const struct rex_range *with)
{
    return range->begin == with->begin && range->end == with->end;
}

/*
 * Returns true if the call RANGES must wait for the call OTHER, which is at work (present.h).
 * RANGE, a range of RANGES, overlaps WITH, a range of OTHER. IS_IN_FORCE is the result of
 * rex_is_in_force().
 */
static bool excludes(const struct rex_range_lock *ranges, const struct rex_range *range,
                     const struct rex_range_lock *other, const struct rex_range *with,
                     bool is_in_force)
{
    bool by_driver = ranges->call == REX_CALL_BY_DRIVER || other->call == REX_CALL_BY_DRIVER;
    /*
     * libomptarget aborts if one call maps memory that the other call has mapped in part, for
     * example a[0] to a[9] after a[0] to a[4]. If both calls map equal memory, libomptarget counts
     * two references. But LLVM 14 and 15 may delete a mapping that a call has just found. So in
     * these LLVM releases calls that map equal memory also exclude each other.
     */
    if (maps(ranges) && maps(other) && is_mapped_anew(range) && is_mapped_anew(with) &&
        (rex_found_may_be_deleted() ||
         (!are_same_bytes(range, with) && !range->is_empty && !with->is_empty)))
        return true;
    /*
     * If only libomptarget uses mappings, an end call waits only for a call that maps overlapping,
     * but not equal, memory. Example: an end call for a[0] to a[9] waits for a launch that maps
     * a[5] to a[14]. During this launch libomptarget would refuse the end call, because only a part
     * of a[0] to a[9] is mapped. The end call does not wait for a launch that maps exactly a[0] to
     * a[9].
     */
    if (!is_in_force)
        return ranges->call == REX_CALL_ENDS && is_mapped_anew(with) &&
               !are_same_bytes(range, with);
    if (ranges->call == REX_CALL_ENDS || other->call == REX_CALL_ENDS)
        return true;
    if (ranges->call == REX_CALL_BEGINS)
        return !range->is_whole && other->call != REX_CALL_LAUNCHES;
    if (other->call == REX_CALL_BEGINS)
        return !range->is_whole && ranges->call != REX_CALL_LAUNCHES;
    bool are_launches = ranges->call <= REX_CALL_LAUNCHES && ranges->call != REX_CALL_UPDATES &&
                        other->call <= REX_CALL_LAUNCHES && other->call != REX_CALL_UPDATES;
    return are_launches && by_driver && !range->is_whole && (range->is_changed || with->is_changed);
}

bool rex_range_meets(const struct rex_range_lock *ranges, const struct rex_range *range,
                     const struct rex_range_lock *other, size_t *first, bool is_in_force)
{
    /*
     * The rows of OTHER are unknown: a row has a mapper, or memory for the ranges was short. So
     * this function treats OTHER as a call that uses all memory.
     */
    if (other->is_all && !other->is_waiting) {
        bool has_to_wait =
            (ranges->call == REX_CALL_BY_DRIVER || ranges->call == REX_CALL_BEGINS) &&
            !range->is_whole && other->call != REX_CALL_UPDATES;
        return is_in_force &&
               (has_to_wait || other->call == REX_CALL_ENDS || ranges->call == REX_CALL_ENDS);
    }
    while (ranges->is_ordered && *first < other->count && other->range[*first].end <= range->begin)
        ++*first;
    for (size_t i = *first; i < other->count; i++) {
        const struct rex_range *with = &other->range[i];
        if (other->is_ordered && with->begin >= range->end)
            break;
        if (with->is_shared || with->is_new || with->begin >= range->end ||
            range->begin >= with->end)
            continue;
        if (!other->is_waiting) {
            if (excludes(ranges, range, other, with, is_in_force))
                return true;
            continue;
        }
        /*
         * OTHER is a begin call or an end call that itself waits. A range is whole (`is_whole`) if
         * one mapping has all bytes of the range, and no other call may end the mapping now. This
         * function makes only two kinds of calls wait for OTHER:
         * - a launch by the driver, if neither range is whole;
         * - an update call with a pointer that OTHER attaches or detaches.
         *
         * If these calls did not wait, many of them in close succession would keep OTHER waiting
         * for ever.
         */
        bool gives_way =
            (ranges->call == REX_CALL_BY_DRIVER && !range->is_whole && !with->is_whole) ||
            (ranges->call == REX_CALL_UPDATES && with->attaches);
        if (gives_way && is_in_force && !other->wait.is_open)
            return true;
    }
    return false;
}

const struct rex_range_lock *rex_find_met(const struct rex_present_table *table,
                                          const struct rex_range_lock *ranges)
{
    bool force = rex_is_in_force(table);
    for (const struct rex_range_lock *other = table->at_work; other != NULL; other = other->next) {
        size_t first = 0;
        for (size_t i = 0; i < ranges->count && other != ranges; i++)
            if (rex_range_meets(ranges, &ranges->range[i], other, &first, force))
                return other;
    }
    return NULL;
}

void rex_at_work_add(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    ranges->next = table->at_work;
    table->at_work = ranges;
    ranges->is_listed = true;
}

void rex_at_work_remove(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    struct rex_range_lock **at = &table->at_work;
    while (*at != NULL && *at != ranges)
        at = &(*at)->next;
    REX_ASSERT(*at == ranges);
    if (*at != NULL)
        *at = ranges->next;
    ranges->is_listed = false;
}
