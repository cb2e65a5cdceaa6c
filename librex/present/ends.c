/*
 * ends.c - end calls in the present table. An end call that may end a mapping waits for the users
 * of the mapping.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/ends.h"

#include "base/assert.h"
#include "present/exclude.h"
#include "present/waits.h"

/*
 * Returns true if an end call that drops TAKEN references may drop the last reference to the
 * mapping.
 */
static bool takes_last(const struct rex_entry *entry, uint32_t taken)
{
    return entry->refs == REX_REFS_UNKNOWN || taken == REX_REFS_UNKNOWN || entry->refs <= taken;
}

/*
 * Sets `taken` of each entry of END to the number of references that END drops. Returns true in two
 * cases: another call makes or ends the mapping of an entry, or another call updates a pointer that
 * END detaches.
 */
static bool count_taken(struct rex_present_table *table, const struct rex_range_lock *end)
{
    struct rex_entry *entry;
    bool is_changing = false;
    for (size_t i = 0; i < end->count; i++) {
        end->range[i].is_mapped = end->range[i].is_used = false;
        REX_EACH_ENTRY(table, entry, &end->range[i])
        {
            is_changing |= entry->owner != NULL || rex_attach_excludes(end, &end->range[i], entry);
            entry->taken = 0;
            end->range[i].is_mapped = true;
        }
    }
    for (size_t i = 0; i < end->count && !is_changing; i++) {
        const struct rex_range *range = &end->range[i];
        REX_EACH_ENTRY(table, entry, range)
        if (range->counts == REX_COUNTS_UNKNOWN || entry->taken == REX_REFS_UNKNOWN ||
            !rex_entry_has(entry, range->begin, range->end))
            entry->taken = REX_REFS_UNKNOWN;
        else
            entry->taken += range->counts == REX_COUNTS_ONE;
    }
    return is_changing;
}

/*
 * Call this for an end call that has waited for the users of ENTRY, and no longer ends the mapping:
 * a newer begin call has added a reference. Returns true while ENTRY has a user that it had at the
 * first call of this function for RANGE. Newer users are ignored, and do not wait for this end
 * call.
 *
 * Example: a launch uses ENTRY. Thread A makes the last end call, which waits for the launch. Then
 * thread B makes a begin call for the mapping. If A's end call returned now, B's end call would be
 * the last one, and would wait for the launch. But the kernel of the launch may wait for thread B:
 * a deadlock. So A's end call goes on waiting for the launch.
 */
static bool awaits_older(struct rex_entry *entry, struct rex_range *range)
{
    if (range->awaits == 0)
        range->awaits = entry->generation + (entry->older > 0 ? 2 : 1);
    if (entry->generation < range->awaits && entry->older == 0) {
        entry->older = entry->users;
        entry->generation++;
    }
    return entry->generation < range->awaits ||
           (entry->generation == range->awaits && entry->older > 0);
}

/*
 * Sets `needs_all` and `is_used` of each range of END. Returns true if awaits_older() returns true
 * for an entry: END does not end the mapping, because a newer begin call has added a reference. But
 * END still waits for older users of the mapping.
 */
static bool find_used(const struct rex_present_table *table, struct rex_range_lock *end)
{
    struct rex_entry *entry;
    bool force = rex_is_in_force(table), some = false;
    for (size_t i = 0; i < end->count; i++) {
        struct rex_range *range = &end->range[i];
        range->needs_all = !range->is_mapped;
        REX_EACH_ENTRY(table, entry, range)
        if (takes_last(entry, entry->taken)) {
            range->needs_all = true;
            range->is_used |= entry->users > 0;
        } else if (range->was_used) {
            some |= awaits_older(entry, range);
        }
        if (range->needs_all)
            range->awaits = 0;
    }
    for (const struct rex_range_lock *other = table->at_work; other != NULL; other = other->next) {
        size_t first = 0;
        for (size_t i = 0; i < end->count; i++)
            if (end->range[i].needs_all &&
                rex_range_meets(end, &end->range[i], other, &first, force))
                end->range[i].is_used = true;
    }
    for (size_t i = 0; i < end->count; i++)
        end->range[i].was_used |= end->range[i].is_used;
    return some;
}

/*
 * First undoes the additions to `awaited` and `held` that an earlier call of this function has
 * made. Then, for each range with `is_used`, adds 1 to `awaited` of the entries of the range. If
 * END is not in an open time (`is_open` of struct rex_table_wait), also adds 1 to `held` of the
 * entries. Launches and update calls wait while `held` is above 0. Returns true if `is_used` of a
 * range is true.
 */
static bool mark_used(struct rex_present_table *table, struct rex_range_lock *end)
{
    struct rex_entry *entry;
    size_t awaiting = table->awaiting;
    bool some = false, is_free = false;
    for (size_t i = 0; i < end->count; i++) {
        struct rex_range *range = &end->range[i];
        bool was_marked = range->marked > 0, was_held = range->is_held;
        range->is_held = range->is_used && !end->wait.is_open;
        REX_EACH_ENTRY(table, entry, range)
        {
            if (entry->born < range->marked) {
                REX_ASSERT(entry->awaited > 0 && entry->held >= was_held);
                entry->awaited--;
                entry->held -= was_held;
            }
            entry->awaited += range->is_used;
            entry->held += range->is_held;
        }
        range->marked = range->is_used ? table->mapped.made + 1 : 0;
        awaiting += range->is_used;
        awaiting -= was_marked;
        is_free |= was_marked && !range->is_used;
        some |= range->is_used;
    }
    __atomic_store_n(&table->awaiting, awaiting, __ATOMIC_RELAXED);
    if (is_free)
        rex_tell_change(table);
    return some;
}

void rex_end_hold(struct rex_present_table *table, struct rex_range_lock *end, bool is_held)
{
    bool is_open = end->wait.is_open;
    for (size_t i = 0; i < end->count; i++)
        end->range[i].is_used = is_held && end->range[i].needs_all;
    end->wait.is_open = false; /* mark_used() must raise `held` also in an open time */
    mark_used(table, end);
    end->wait.is_open = is_open;
}

void rex_end_goes_on(struct rex_present_table *table, struct rex_range_lock *end)
{
    struct rex_entry *entry;
    for (size_t i = 0; i < end->count; i++) {
        struct rex_range *range = &end->range[i];
        REX_EACH_ENTRY(table, entry, range)
        {
            if (entry->owner == end)
                continue;
            if (takes_last(entry, entry->taken)) {
                entry->owner = end;
                continue;
            }
            range->is_shared = true;
            rex_entry_add_user(entry, REX_CALL_ENDS, range);
            entry->refs -= entry->taken;
            entry->taken = 0;
        }
        end->known += range->is_shared;
    }
}

bool rex_end_has_to_wait(struct rex_present_table *table, struct rex_range_lock *end)
{
    for (size_t i = 0; i < end->count; i++)
        if (end->range[i].is_empty)
            rex_entries_forget_beside(table, &end->range[i]);
    if (end->is_all)
        rex_entries_forget_refs(table, end->range);
    bool is_changing = count_taken(table, end);
    bool awaits_some = !is_changing && find_used(table, end);
    return mark_used(table, end) || awaits_some || is_changing;
}
