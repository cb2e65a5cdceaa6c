/*
 * present.c - the present table: rules for calls that use memory at the same time.
 *
 * libomptarget adds a reference to memory for each launch, so that another thread cannot end the
 * mapping during the launch. A launch by the driver becomes a user in the table instead. A call
 * takes all its memory in one critical section of the table, or waits and takes no memory.
 *
 * There are two kinds of calls:
 * - Shared calls are launches, update calls, begin calls for present memory, and end calls that do
 *   not drop the last reference to a mapping. A shared call is a user of its entries until it
 *   leaves.
 * - Exclusive calls are begin calls for absent memory, until the memory is copied, and end calls
 *   that may drop the last reference to a mapping. An exclusive call owns its entries, and other
 *   calls wait for the exclusive call.
 *
 * An end call subtracts its references when it no longer has to wait. If an end call may drop the
 * last reference to a mapping, the end call marks the memory, and waits while the entry has users.
 * Launches and update calls with marked memory wait, too, in periods that double (struct
 * rex_table_wait). Begin calls do not wait. If a new begin call adds a reference, the end call no
 * longer drops the last reference. librex then removes the marks. But the end call still waits for
 * the users that the entry had when librex noticed the new reference.
 *
 * A call that attaches a pointer excludes an update call that copies the memory of the pointer. The
 * update call would overwrite the attached pointer with the host pointer.
 *
 * Calls that use memory without an entry are in the list `at_work`. Two launches in this list
 * exclude each other if at least one is by the driver, and at least one copies the memory back. A
 * begin call waits for each launch by the driver and each update call in this list that uses absent
 * memory of the begin call.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/present.h"

#include <limits.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/process.h"
#include "omp/columns.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "present/begins.h"
#include "present/ends.h"
#include "present/exclude.h"
#include "present/lookup.h"
#include "present/mappings.h"
#include "present/presentcalls.h"
#include "present/waits.h"

/* ---- shared calls, and begin calls ----------------------------------------------------------- */

static int by_begin(const void *left, const void *right)
{
    const struct rex_range *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    /* A range comes before the ranges that it contains. */
    return (a->end < b->end) - (a->end > b->end);
}

#define FEW 8 /* up to FEW ranges are sorted only for a begin call: comparing all pairs is faster */

/* Sorts the ranges, so that they can be compared with the ranges of other calls. */
static void put_in_order(struct rex_range_lock *ranges)
{
    size_t i = 1;
    if (ranges->is_ordered || (ranges->count <= FEW && ranges->call != REX_CALL_BEGINS))
        return;
    while (i < ranges->count && by_begin(&ranges->range[i - 1], &ranges->range[i]) <= 0)
        i++;
    if (i < ranges->count)
        qsort(ranges->range, ranges->count, sizeof *ranges->range, by_begin);
    ranges->is_ordered = true;
}

/*
 * Sets the members of RANGE from ENTRY. Call this only if ENTRY is settled (mappings.h) and has all
 * bytes of RANGE.
 */
static inline void note_settled(struct rex_range *range, const struct rex_entry *entry)
{
    uintptr_t device = entry->device;
    range->is_mapped = range->is_in_one = range->is_whole = true;
    range->is_loose = false;
    range->is_attached = entry->is_attached;
    range->device = device != 0 ? device + (range->begin - entry->begin) : 0;
}

/* Returns true if entry NUMBER has all bytes from BEGIN to END. NUMBER may be a wrong guess. */
static inline bool has_in_entry(const struct rex_entry_list *in, uint32_t number, uintptr_t begin,
                                uintptr_t end)
{
    return begin < end && number < in->used && rex_entry_has(&in->entry[number], begin, end);
}

/*
 * Pins the rows of MAP for rex_present_pin_rows(). Stops at the first row that this function cannot
 * pin, and returns false; only the rows before that row are then pinned. Of each range, sets only
 * the members that the launch uses later. noinline, because the loop needs all registers.
 */
static __attribute__((noinline)) bool pin_mapped_rows(const struct rex_entry_list *in,
                                                      struct rex_range_lock *launch,
                                                      const struct rex_map *map, uintptr_t *device)
{
    const int64_t *types = map->types, *sizes = map->sizes;
    void *const *begins = map->begin;
    struct rex_range *range = launch->range;
    size_t i = 0, count = (size_t)map->count;
    for (; i < count; i++) {
        int64_t type = types[i];
        if (type & ~REX_ROW_MAPPED) {
            if (!(type & REX_MAP_LITERAL) || (type & ~REX_ROW_VALUE) != 0 || sizes[i] < 0)
                break;
            continue;
        }
        uintptr_t begin = (uintptr_t)begins[i], end = begin + (uintptr_t)sizes[i];
        range->begin = begin;
        if (!has_in_entry(in, range->at, begin, end)) {
            uint32_t last = range > launch->range ? range[-1].at : 0;
            range->at = rex_entries_near(in, last, begin);
            if (!has_in_entry(in, range->at, begin, end))
                break;
        }
        struct rex_entry *entry = &in->entry[range->at];
        if (!rex_entry_is_settled(entry) || entry->held > 0 || entry->device == 0)
            break;
        range->end = end;
        range->row = (int32_t)i;
        range->is_changed = (type & REX_MAP_FROM) != 0;
        range->is_shared = true;
        device[i] = entry->device + (begin - entry->begin);
        rex_entry_add_user(entry, REX_CALL_BY_DRIVER, range);
        range++;
    }
    launch->known = launch->count = (size_t)(range - launch->range);
    return i == count;
}

/*
 * Unpins the ranges of LAUNCH that are pinned in entries. Returns true if the mapping of at least
 * one of these entries has ended.
 */
static bool unpin_known(struct rex_present_table *table, struct rex_range_lock *launch)
{
    const struct rex_range *range = launch->range, *end = range + launch->known;
    struct rex_entry *entries = table->mapped.entry;
    bool some_are_gone = false;
    for (; range < end; range++) {
        /* `at` is valid: the number of an entry does not change while the entry has a user. */
        struct rex_entry *entry = &entries[range->at];
        rex_entry_remove_user(entry, REX_CALL_BY_DRIVER, range);
        some_are_gone |= entry->is_gone;
    }
    launch->known = 0;
    return some_are_gone;
}

/*
 * Looks up how each range that is not pinned is mapped. First tries the entry that `at` of the
 * range guesses. Returns true if the call has to wait for one of these:
 * - a begin call or end call that is making or ending the mapping of an entry (`owner`);
 * - an update call that copies memory in which this call attaches a pointer;
 * - a call that attaches a pointer, if this call is an update call that copies the pointer;
 * - an end call that makes launches and update calls wait (`held` of an entry), if `force` is true
 *   and this call is not a begin call;
 * - a call in `at_work` that excludes this call. `met` of RANGES then points to that call.
 */
static bool look_up_ranges(const struct rex_present_table *table, struct rex_range_lock *ranges)
{
    const struct rex_entry_list *in = &table->mapped;
    bool is_owned = false, is_held = false, force = rex_is_in_force(table);
    bool is_plain = ranges->call == REX_CALL_BY_DRIVER || ranges->call == REX_CALL_BEGINS;
    uint32_t last = 0;
    for (size_t i = ranges->known; i < ranges->count && !is_owned; i++) {
        struct rex_range *range = &ranges->range[i];
        last = rex_entry_is_at(in, range->at, range->begin)
                   ? range->at
                   : rex_entries_near(in, last, range->begin);
        range->at = last;
        const struct rex_entry *entry = rex_entry_touching(in, last, range->end);
        /* Fast path: one settled mapping (mappings.h) has the whole range. */
        if (is_plain && entry != NULL && rex_entry_is_settled(entry) && !range->attaches &&
            rex_entry_has(entry, range->begin, range->end)) {
            note_settled(range, entry);
            is_held |= entry->held > 0;
            continue;
        }
        range->is_mapped = range->is_whole = range->is_loose = range->is_attached = false;
        range->is_in_one = false;
        range->device = 0;
        for (; entry != NULL; entry = rex_entry_touching(in, entry->next[0], range->end)) {
            is_owned |= entry->owner != NULL || rex_attach_excludes(ranges, range, entry);
            is_held |= entry->held > 0;
            range->is_mapped = true;
            range->is_loose |= entry->is_loose;
            range->is_attached |= entry->is_attached;
            /*
             * The call must not become a user of a mapping that perhaps ends before libomptarget
             * looks up the mapping. Three kinds of mappings perhaps end:
             * - a mapping that is gone (`is_gone` of struct rex_entry)
             * - a loose mapping (loose: see present.h)
             * - if `force` is false and the call is a launch by libomptarget, a mapping that has
             *   exactly the bytes of the range. An end call for the mapping does not wait for the
             *   launch, because libomptarget can make the launch before and after the end call.
             */
            bool is_all_of_it = range->begin == entry->begin && range->end == entry->end;
            bool has_all = rex_entry_has(entry, range->begin, range->end);
            bool may_end = entry->is_gone || entry->is_loose ||
                           (ranges->call == REX_CALL_LAUNCHES && is_all_of_it && !force);
            range->is_in_one |= has_all && rex_entry_is_settled(entry);
            range->is_whole |= has_all && !may_end;
        }
    }
    is_held = is_held && ranges->call != REX_CALL_BEGINS;
    ranges->met = NULL;
    if (table->at_work != NULL) {
        put_in_order(ranges);
        ranges->met = rex_find_met(table, ranges);
    }
    return is_owned || ranges->met != NULL || (is_held && force);
}

static void use_entries(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    enum rex_present_call call = ranges->call;
    for (size_t i = ranges->known; i < ranges->count; i++) {
        struct rex_range *range = &ranges->range[i];
        range->is_shared = range->is_whole;
        if (range->is_empty && call != REX_CALL_UPDATES)
            rex_entries_forget_beside(table, range);
        if (range->is_shared) {
            rex_entry_add_user(&table->mapped.entry[range->at], call, range);
            ranges->known++;
        }
    }
}

/*
 * Marks the memory of each pointer that the call attaches, because an attached pointer differs from
 * the pointer on the host.
 */
static void mark_attached(struct rex_present_table *table, const struct rex_range_lock *ranges)
{
    struct rex_entry *entry;
    for (size_t i = 0; i < ranges->count; i++) {
        const struct rex_range *range = &ranges->range[i];
        if (!range->attaches || ranges->call == REX_CALL_ENDS)
            continue;
        REX_EACH_ENTRY(table, entry, range)
        {
            entry->is_attached = true;
            rex_attached_add(table, range->begin);
        }
    }
}

static void show_ranges(struct rex_present_table *table, const struct rex_range_lock *ranges)
{
    struct rex_entry *entry;
    for (size_t i = 0; i < ranges->count; i++) {
        if (!ranges->range[i].shows)
            continue;
        REX_EACH_ENTRY(table, entry, &ranges->range[i])
        entry->is_shown = true;
    }
}

void rex_present_show(const void *address, int number)
{
    struct rex_present_table *table = rex_present_table(number);
    if (table == NULL)
        return;
    struct rex_range range = {
        .begin = (uintptr_t)address, .end = rex_end_of(address, 1), .shows = true};
    struct rex_range_lock ranges = {.range = &range, .count = 1};
    pthread_mutex_lock(&table->lock);
    show_ranges(table, &ranges);
    pthread_mutex_unlock(&table->lock);
}

/* *HOLD of has_awaited_launches() at its second wait, in milliseconds */
#define FIRST_HOLD 10

/*
 * Waits for deferred launches that use mappings that END may end. Unlocks the table during the
 * wait. Returns true after a wait; the caller then checks END again. So when END becomes the owner
 * of entries, no deferred launch that uses these entries is pending.
 *
 * A thread that launches without a pause would keep END waiting for ever. So from the second wait
 * on, the function first makes launches wait for at most *HOLD milliseconds. After this time
 * launches go on while END waits, because a kernel may wait for a thread that launches. *HOLD is 0
 * at the first wait, 10 at the second, and doubles at each later wait.
 */
static bool has_awaited_launches(struct rex_present_table *table, struct rex_range_lock *end,
                                 int *hold)
{
    bool is_done = false;
    const struct rex_entry *entry;
    uint64_t newest = table->dropped;
    if (!rex_is_deferred(end->number))
        return false;
    /*
     * Wait only for launches on mappings that END may end. On other mappings, launches may go on
     * for ever.
     */
    for (size_t i = 0; i < end->count; i++)
        if (end->range[i].needs_all)
            REX_EACH_ENTRY(table, entry, &end->range[i])
    newest = entry->launch > newest ? entry->launch : newest;
    if (newest <= rex_deferred_seen(end->number))
        return false;
    if (*hold > 0) {
        rex_end_hold(table, end, true);
        pthread_mutex_unlock(&table->lock);
        is_done = rex_await_launch_for(end->number, newest, *hold);
        pthread_mutex_lock(&table->lock);
        rex_end_hold(table, end, false);
    }
    if (!is_done) {
        pthread_mutex_unlock(&table->lock);
        rex_await_launch(end->number, newest);
        pthread_mutex_lock(&table->lock);
    }
    if (*hold < INT_MAX / 2)
        *hold = *hold > 0 ? 2 * *hold : FIRST_HOLD;
    return true;
}

/*
 * Returns true if END has to wait for other calls. The function itself waits for deferred launches.
 */
static bool has_end_to_wait(struct rex_present_table *table, struct rex_range_lock *end, int *hold)
{
    do
        if (rex_end_has_to_wait(table, end))
            return true;
    while (has_awaited_launches(table, end, hold));
    return false;
}

/* ---- a call enters and leaves ---------------------------------------------------------------- */

unsigned rex_present_pin(struct rex_range_lock *ranges)
{
    struct rex_present_table *table = rex_present_table(ranges->number);
    bool ends = ranges->call == REX_CALL_ENDS, begins = ranges->call == REX_CALL_BEGINS;
    int hold = 0;
    ranges->is_ordered = ranges->count < 2;
    /*
     * Do not sort the ranges of a launch by the driver here. look_up_ranges() sorts them if they
     * have to be compared with other calls.
     */
    if (ranges->call != REX_CALL_BY_DRIVER)
        put_in_order(ranges);
    ranges->known = 0;
    pthread_mutex_lock(&table->lock);
    while (ends ? has_end_to_wait(table, ranges, &hold) : look_up_ranges(table, ranges)) {
        unsigned reasons = 0;
        if (ranges->call != REX_CALL_BY_DRIVER) {
            rex_wait_begin(table, ranges);
            rex_wait_for_change(table, &ranges->wait);
            continue;
        }
        /*
         * The launch in `met` is by libomptarget. Its kernel may wait for the kernel of this
         * launch, so a wait here could be a deadlock. Return a fallback reason: libomptarget then
         * makes this launch, too, and two launches by libomptarget do not exclude each other.
         */
        if (ranges->met != NULL && ranges->met->call == REX_CALL_LAUNCHES)
            reasons = REX_REASON_BESIDE;
        if (rex_present_is_entered())
            reasons |= REX_REASON_NESTED;
        if (reasons == 0)
            rex_wait_begin(table, ranges);
        unpin_known(table, ranges);
        pthread_mutex_unlock(&table->lock);
        return reasons;
    }
    if (ranges->is_listed)
        rex_at_work_remove(table, ranges);
    ranges->is_alone = table->at_work == NULL;
    if (ends)
        rex_end_goes_on(table, ranges);
    else
        use_entries(table, ranges);
    if (begins)
        rex_begin_own_loose(table, ranges);
    if (begins && ranges->known < ranges->count && !ranges->is_all)
        rex_begin_make_entries(table, ranges);
    if (ranges->types & (REX_MAP_PTR_AND_OBJ | REX_MAP_RETURN_PARAM)) {
        mark_attached(table, ranges);
        show_ranges(table, ranges);
    }
    if (ranges->is_all || ranges->known < ranges->count) {
        put_in_order(ranges);
        rex_at_work_add(table, ranges);
    }
    table->by_driver += ranges->call <= REX_CALL_UPDATES;
    ranges->is_waiting = false;
    pthread_mutex_unlock(&table->lock);
    return 0;
}

bool rex_present_pin_rows(struct rex_range_lock *launch, const struct rex_map *map,
                          uintptr_t *device)
{
    struct rex_present_table *table = rex_present_table(launch->number);
    pthread_mutex_lock(&table->lock);
    bool is_pinned = table->at_work == NULL && pin_mapped_rows(&table->mapped, launch, map, device);
    if (is_pinned)
        table->by_driver++;
    else
        unpin_known(table, launch);
    pthread_mutex_unlock(&table->lock);
    return is_pinned;
}

/*
 * Stores the number of the deferred launch LAUNCH in each entry that LAUNCH uses, if the entry has
 * no larger number. Sets `is_shown` of LAUNCH if the program has the device address of an entry
 * (rex_present_show()).
 */
static __attribute__((noinline)) void leave_number(struct rex_present_table *table,
                                                   struct rex_range_lock *launch)
{
    for (size_t i = 0; i < launch->count; i++) {
        struct rex_entry *entry = &table->mapped.entry[launch->range[i].at];
        if (entry->launch < launch->launch)
            entry->launch = launch->launch;
        launch->is_shown |= entry->is_shown;
    }
}

void rex_present_unpin(struct rex_range_lock *ranges)
{
    struct rex_present_table *table = rex_present_table(ranges->number);
    struct rex_entry *entry;
    enum rex_present_call call = ranges->call;
    bool some_are_gone = false, counts = call == REX_CALL_BEGINS && !ranges->is_refused;
    pthread_mutex_lock(&table->lock);
    REX_ASSERT(table->by_driver > 0 || ranges->call > REX_CALL_UPDATES);
    table->by_driver -= ranges->call <= REX_CALL_UPDATES;
    if (REX_UNLIKELY(ranges->launch > 0))
        leave_number(table, ranges);
    const struct rex_range *range = ranges->range, *end = range + ranges->count;
    if (call == REX_CALL_BY_DRIVER && ranges->known == ranges->count) {
        some_are_gone = unpin_known(table, ranges);
        range = end;
    }
    for (; range < end; range++) {
        if (range->is_shared && range->is_whole) {
            entry = &table->mapped.entry[range->at];
            rex_entry_remove_user(entry, call, range);
            some_are_gone |= entry->is_gone;
            if (counts)
                rex_begin_add_refs(entry, range->counts);
            continue;
        }
        uint32_t j = rex_entries_near(&table->mapped, range->at, range->begin);
        for (; (entry = rex_entry_touching(&table->mapped, j, range->end)) != NULL;
             j = entry->next[0]) {
            if (entry->owner == ranges && range->is_new) {
                entry->device = range->device;
                entry->is_gone |= !range->is_mapped && !entry->is_loose;
            }
            some_are_gone |= entry->is_gone;
            if (range->is_shared)
                rex_entry_remove_user(entry, call, range);
            /* If a row overlaps a mapping only in part, the reference count is unknown. */
            if (counts && range->is_mapped && !range->is_new)
                rex_begin_add_refs(entry, range->is_shared ? range->counts : REX_COUNTS_UNKNOWN);
        }
    }
    /*
     * Clear the owner only after the loop above. A new entry may touch two ranges: its own range
     * and an earlier range. If the loop cleared the owner at the earlier range, it would not set
     * `device` of the entry at the entry's own range.
     */
    for (size_t i = 0; i < ranges->count && ranges->call >= REX_CALL_BEGINS; i++)
        REX_EACH_ENTRY(table, entry, &ranges->range[i])
    if (entry->owner == ranges)
        entry->owner = NULL;
    if (ranges->is_listed)
        rex_at_work_remove(table, ranges);
    for (size_t i = 0; i < ranges->count && some_are_gone; i++)
        rex_entries_clean(table, ranges->range[i].begin, ranges->range[i].end);
    rex_tell_change(table);
    pthread_mutex_unlock(&table->lock);
}

bool rex_present_is_awaited(const struct rex_range_lock *launch)
{
    struct rex_present_table *table = rex_present_table(launch->number);
    const struct rex_entry *entry;
    bool is_awaited = false;
    REX_ASSERT(table != NULL);
    /*
     * Relaxed: the load may miss an end call that begins to wait at this moment. librex treats such
     * an end call as later than the launch.
     */
    if (__atomic_load_n(&table->awaiting, __ATOMIC_RELAXED) == 0)
        return false;
    pthread_mutex_lock(&table->lock);
    for (size_t i = 0; i < launch->count; i++)
        if (launch->range[i].is_shared && launch->range[i].is_changed)
            REX_EACH_ENTRY(table, entry, &launch->range[i])
    is_awaited |= entry->awaited > 0;
    pthread_mutex_unlock(&table->lock);
    return is_awaited;
}
