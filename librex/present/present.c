/*
 * present.c - the present table: which calls may work at once on which memory.
 *
 * libomptarget counts a launch as a user of the memory that it maps, so that another thread cannot
 * end the mapping under it. A launch by the driver counts itself in the table instead. A call takes
 * all its memory in one critical section, or it waits and holds none.
 *
 * Shared calls are launches, updates, begins of present memory, and ends that are not the last of
 * their mapping. Each counts as a user until it is over. Exclusive calls are begins of absent
 * memory, until it is copied, and ends that are the last, or may be. They own their entries, and
 * other calls wait.
 *
 * An end subtracts its references when it goes on. If it is the last and the entry has users, it
 * waits, and marks its memory: launches and updates of it wait, too, but begins do not. The marks
 * hold in windows that double (struct rex_table_wait). If a begin makes the end a non-last one, its
 * marks go, and it goes on when the users of that time have left.
 *
 * A call that attaches a pointer and an update of the same memory exclude each other, because the
 * update copies the host's pointer.
 *
 * Memory of launches that has no entry is listed. Two launches, one of them by the driver, exclude
 * each other there if either copies the memory back. A begin waits for the driver's launches there.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/present.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/process.h"
#include "omp/backend.h"
#include "omp/columns.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "present/lookup.h"
#include "present/mappings.h"
#include "present/presentcalls.h"

/*
 * Whether the driver may use mappings, or does at the moment. Otherwise only libomptarget does, and
 * no call waits for users, unless libomptarget may delete what a user has found.
 */
static bool is_in_force(const struct rex_present_table *table)
{
    return table->by_driver > 0 || rex_process_reasons() == 0 || rex_found_may_be_deleted();
}

/* ---- memory without an entry ----------------------------------------------------------------- */

static bool is_launch(const struct rex_range_lock *ranges)
{
    return ranges->call == REX_CALL_BY_DRIVER || ranges->call == REX_CALL_LAUNCHES;
}

/*
 * Whether RANGES cannot go on with RANGE beside OTHER, which uses all memory, because a mapper
 * tells its rows to libomptarget alone.
 */
static bool excludes_all(const struct rex_range_lock *ranges, const struct rex_range *range,
                         const struct rex_range_lock *other)
{
    bool maps = ranges->call == REX_CALL_BY_DRIVER || ranges->call == REX_CALL_BEGINS;
    return other->call == REX_CALL_ENDS || ranges->call == REX_CALL_ENDS ||
           (maps && !range->is_whole && other->call != REX_CALL_UPDATES);
}

/* Whether libomptarget maps what is absent. */
static bool maps(const struct rex_range_lock *ranges)
{
    return ranges->call == REX_CALL_LAUNCHES || ranges->call == REX_CALL_BEGINS;
}

static bool is_mapped_anew(const struct rex_range *range)
{
    return !range->is_whole && range->counts != REX_COUNTS_NONE && !range->attaches;
}

static bool are_equal(const struct rex_range *range, const struct rex_range *with)
{
    return range->begin == with->begin && range->end == with->end;
}

/*
 * Whether libomptarget cannot map both ranges at once. It aborts if one of them extends what it has
 * mapped for the other. The same memory it counts twice, but LLVM 14 and 15 may delete a mapping
 * that another call has just found.
 */
static bool clash(const struct rex_range *range, const struct rex_range *with)
{
    return is_mapped_anew(range) && is_mapped_anew(with) &&
           (rex_found_may_be_deleted() ||
            (!are_equal(range, with) && !range->is_empty && !with->is_empty));
}

/*
 * Whether RANGES cannot go on with RANGE beside OTHER, which has listed WITH: the same memory.
 * IS_IN_FORCE: see is_in_force().
 */
static bool excludes(const struct rex_range_lock *ranges, const struct rex_range *range,
                     const struct rex_range_lock *other, const struct rex_range *with,
                     bool is_in_force)
{
    bool by_driver = ranges->call == REX_CALL_BY_DRIVER || other->call == REX_CALL_BY_DRIVER;
    if (maps(ranges) && maps(other) && clash(range, with))
        return true;
    /* A call that overlaps a mapping in part is refused, if it finds the mapping. */
    if (!is_in_force)
        return ranges->call == REX_CALL_ENDS && is_mapped_anew(with) && !are_equal(range, with);
    if (ranges->call == REX_CALL_ENDS || other->call == REX_CALL_ENDS)
        return true;
    if (ranges->call == REX_CALL_BEGINS)
        return !range->is_whole && (other->call != REX_CALL_LAUNCHES || clash(range, with));
    if (other->call == REX_CALL_BEGINS)
        return !range->is_whole && ranges->call != REX_CALL_LAUNCHES;
    return is_launch(ranges) && is_launch(other) && by_driver && !range->is_whole &&
           (range->is_changed || with->is_changed);
}

/*
 * Whether RANGES gives way to OTHER, a data call that waits. Otherwise launches, or updates, that
 * follow each other closely would keep it waiting for good.
 */
static bool gives_way(const struct rex_range_lock *ranges, const struct rex_range *range,
                      const struct rex_range_lock *other, const struct rex_range *with)
{
    if (other->wait.is_open)
        return false;
    return (ranges->call == REX_CALL_BY_DRIVER && !range->is_whole && !with->is_whole) ||
           (ranges->call == REX_CALL_UPDATES && with->attaches);
}

/*
 * Whether RANGES cannot go on with RANGE beside OTHER. *FIRST is 0 for the first one of RANGES. If
 * they are in order, the loop skips those that end before RANGE, or begin behind it.
 */
static bool meets(const struct rex_range_lock *ranges, const struct rex_range *range,
                  const struct rex_range_lock *other, size_t *first, bool is_in_force)
{
    if (other->is_all && !other->is_waiting)
        return is_in_force && excludes_all(ranges, range, other);
    while (ranges->is_ordered && *first < other->count && other->range[*first].end <= range->begin)
        ++*first;
    for (size_t i = *first; i < other->count; i++) {
        const struct rex_range *with = &other->range[i];
        if (other->is_ordered && with->begin >= range->end)
            break;
        if (with->is_shared || with->is_new || with->begin >= range->end ||
            range->begin >= with->end)
            continue;
        if (other->is_waiting ? is_in_force && gives_way(ranges, range, other, with)
                              : excludes(ranges, range, other, with, is_in_force))
            return true;
    }
    return false;
}

/* The first call at work that RANGES meets; NULL if there is none. */
static const struct rex_range_lock *find_met(const struct rex_present_table *table,
                                             const struct rex_range_lock *ranges)
{
    bool force = is_in_force(table);
    for (const struct rex_range_lock *other = table->at_work; other != NULL; other = other->next) {
        size_t first = 0;
        for (size_t i = 0; i < ranges->count && other != ranges; i++)
            if (meets(ranges, &ranges->range[i], other, &first, force))
                return other;
    }
    return NULL;
}

static void take_out(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    struct rex_range_lock **at = &table->at_work;
    while (*at != NULL && *at != ranges)
        at = &(*at)->next;
    if (*at != NULL)
        *at = ranges->next;
    ranges->is_listed = false;
}

/* Wakes the calls that wait. */
static void tell_change(struct rex_present_table *table)
{
    table->changes++;
    pthread_cond_broadcast(&table->changed);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Whether one reference less, or a few, may end the mapping. */
static bool is_last(const struct rex_entry *entry, uint32_t taken)
{
    return entry->refs == REX_REFS_UNKNOWN || taken == REX_REFS_UNKNOWN || entry->refs <= taken;
}

static void add_refs(struct rex_entry *entry, enum rex_counts counts)
{
    if (counts == REX_COUNTS_UNKNOWN || entry->refs == REX_REFS_UNKNOWN)
        entry->refs = REX_REFS_UNKNOWN;
    else
        entry->refs += counts == REX_COUNTS_ONE;
}

static void forget_refs(struct rex_present_table *table, size_t index)
{
    if (index < table->count)
        table->entries[index].refs = REX_REFS_UNKNOWN;
}

/*
 * A row of no length may change the count of the mapping that it lies in, or of one beside it: LLVM
 * 15 to 24 search from each mapping's base, which need not lie in the mapping.
 */
static void forget_refs_around(struct rex_present_table *table, const struct rex_range *range)
{
    size_t at = rex_entries_behind(table, range->begin);
    forget_refs(table, at - 1); /* before the first one there is none: an index beyond all */
    forget_refs(table, at);
    forget_refs(table, at + 1);
}

/* ---- shared calls, and begins ---------------------------------------------------------------- */

/* Whether a call with RANGE excludes one at work with ENTRY, because one of them attaches. */
static bool excludes_attach(const struct rex_range_lock *ranges, const struct rex_range *range,
                            const struct rex_entry *entry)
{
    return (range->attaches && entry->updates > 0) ||
           (ranges->call == REX_CALL_UPDATES && entry->attaching > 0);
}

/*
 * Whether a call only lists a range that has an entry, because the mapping may end before
 * libomptarget looks. A loose one may. If only libomptarget launches, no end waits for a launch of
 * the whole mapping, because either of them may come first.
 */
static bool is_listed_only(const struct rex_range_lock *ranges, const struct rex_range *range,
                           const struct rex_entry *entry, bool is_in_force)
{
    bool is_all_of_it = range->begin == entry->begin && range->end == entry->end;
    return entry->is_loose || (ranges->call == REX_CALL_LAUNCHES && is_all_of_it && !is_in_force);
}

/*
 * Looks up how the ranges are mapped. Whether the call has to wait: for an entry's owner, for an
 * update where it attaches a pointer, for an end that waits, or for a call without an entry. `met`
 * of RANGES becomes that call.
 */
static bool look(const struct rex_present_table *table, struct rex_range_lock *ranges)
{
    bool is_owned = false, is_held = false, force = is_in_force(table);
    size_t last = 0;
    for (size_t i = 0; i < ranges->count && !is_owned; i++) {
        struct rex_range *range = &ranges->range[i];
        last = range->at = rex_entries_near(table, last, range->begin);
        const struct rex_entry *entry;
        range->is_mapped = range->is_whole = range->is_loose = range->is_attached = false;
        range->device = 0;
        for (size_t j = last; (entry = rex_entry_touching(table, j, range->end)) != NULL; j++) {
            is_owned |= entry->owner != NULL || excludes_attach(ranges, range, entry);
            is_held |= entry->held > 0;
            range->is_mapped = true;
            range->is_loose |= entry->is_loose;
            range->is_attached |= entry->is_attached;
            range->is_whole |= !entry->is_gone && rex_entry_has(entry, range->begin, range->end) &&
                               !is_listed_only(ranges, range, entry, force);
            if (range->is_whole && entry->device != 0)
                range->device = entry->device + (range->begin - entry->begin);
        }
    }
    is_held = is_held && ranges->call != REX_CALL_BEGINS;
    ranges->met = table->at_work != NULL ? find_met(table, ranges) : NULL;
    return is_owned || ranges->met != NULL || (is_held && force);
}

static int by_begin(const void *left, const void *right)
{
    const struct rex_range *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end < b->end) - (a->end > b->end); /* what contains others comes before them */
}

#define FEW 8 /* ranges that are compared faster than sorted */

static void put_in_order(struct rex_range_lock *ranges)
{
    ranges->is_ordered = true;
    for (size_t i = 1; i < ranges->count && ranges->is_ordered; i++)
        ranges->is_ordered = by_begin(&ranges->range[i - 1], &ranges->range[i]) <= 0;
    if (!ranges->is_ordered)
        qsort(ranges->range, ranges->count, sizeof *ranges->range, by_begin);
    ranges->is_ordered = true;
}

static void push(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    ranges->next = table->at_work;
    table->at_work = ranges;
    ranges->is_listed = true;
}

/* Another user of ENTRY. */
static void add_user(struct rex_entry *entry, const struct rex_range_lock *ranges,
                     struct rex_range *range)
{
    entry->users++;
    entry->updates += ranges->call == REX_CALL_UPDATES;
    entry->attaching += range->attaches;
    range->generation = entry->generation;
}

static void remove_user(struct rex_entry *entry, const struct rex_range_lock *ranges,
                        const struct rex_range *range)
{
    entry->users--;
    entry->updates -= ranges->call == REX_CALL_UPDATES;
    entry->attaching -= range->attaches;
    entry->older -= range->generation < entry->generation;
}

static void use_entries(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        struct rex_range *range = &ranges->range[i];
        range->is_shared = range->is_whole;
        if (range->is_empty && ranges->call != REX_CALL_UPDATES)
            forget_refs_around(table, range);
        if (range->is_shared) {
            add_user(&table->entries[range->at], ranges, range);
            ranges->known++;
        }
    }
}

/* ---- begins ---------------------------------------------------------------------------------- */

/* The counts of all entries that RANGE touches are not known any more. */
static void touch(struct rex_present_table *table, const struct rex_range *range)
{
    struct rex_entry *entry;
    REX_EACH_ENTRY(table, entry, range)
    entry->refs = REX_REFS_UNKNOWN;
}

/*
 * A launch that has listed the memory of a new entry may have a reference to the mapping. An end
 * meets whatever is listed there.
 */
static void forget_listed(struct rex_present_table *table, const struct rex_range_lock *ranges)
{
    struct rex_range_lock as_end = *ranges;
    as_end.call = REX_CALL_ENDS;
    for (const struct rex_range_lock *other = table->at_work; other != NULL; other = other->next) {
        size_t first = 0;
        for (size_t i = 0; i < ranges->count; i++)
            if (ranges->range[i].is_new && meets(&as_end, &ranges->range[i], other, &first, true))
                touch(table, &ranges->range[i]);
    }
}

/*
 * Makes entries for the absent memory of a begin, which comes in order. A row inside another one
 * needs none. Without memory for entries nothing keeps launches by the driver away: none goes that
 * way any more.
 */
static void make_entries(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    struct rex_entry *made = rex_entries_room(table, ranges->count);
    size_t count = 0;
    if (made == NULL) {
        rex_add_process_reasons(REX_REASON_NO_MEMORY);
        rex_mapped_unseen();
        return;
    }
    for (size_t i = 0; i < ranges->count; i++) {
        struct rex_range *range = &ranges->range[i];
        struct rex_entry *last = count > 0 ? &made[count - 1] : NULL;
        bool touches = last != NULL && range->begin < last->end;
        if (range->is_mapped || (range->is_empty && !touches))
            continue;
        if (touches) {
            add_refs(last, range->end <= last->end ? range->counts : REX_COUNTS_UNKNOWN);
            continue;
        }
        range->is_new = true;
        made[count++] =
            (struct rex_entry){.begin = range->begin,
                               .end = range->end,
                               .born = ++table->made,
                               .refs = range->counts == REX_COUNTS_ONE ? 1 : REX_REFS_UNKNOWN,
                               .owner = ranges};
    }
    ranges->known += count;
    rex_entries_add(table, made, count);
    if (table->at_work != NULL)
        forget_listed(table, ranges);
}

static void cut_loose(struct rex_present_table *table, uintptr_t at)
{
    size_t index = rex_entries_behind(table, at);
    const struct rex_entry *entry = rex_entry_touching(table, index, at);
    if (entry == NULL || !entry->is_loose || entry->users > 0)
        return;
    struct rex_entry *made = rex_entries_room(table, 1);
    if (made == NULL) {
        rex_add_process_reasons(REX_REASON_NO_MEMORY);
        return;
    }
    entry = &table->entries[index];
    *made = (struct rex_entry){.begin = at,
                               .end = entry->end,
                               .born = ++table->made,
                               .refs = REX_REFS_UNKNOWN,
                               .is_loose = true,
                               .is_attached = entry->is_attached,
                               .is_kept = entry->is_kept};
    table->entries[index].end = at;
    rex_entries_add(table, made, 1);
}

/*
 * A begin may map a part of loose memory, which is absent by then. The parts become entries of
 * their own, so that each is asked for, and they stay until the begin is over. Memory with users,
 * which it had before it became loose, is mapped as a whole.
 */
static void own_loose(struct rex_present_table *table, const struct rex_range_lock *begin)
{
    struct rex_entry *entry;
    for (size_t i = 0; i < begin->count; i++) {
        const struct rex_range *range = &begin->range[i];
        if (!range->is_loose)
            continue;
        table->begun++;
        cut_loose(table, range->begin);
        cut_loose(table, range->end);
        REX_EACH_ENTRY(table, entry, range)
        if (entry->is_loose && entry->users == 0)
            entry->owner = begin;
    }
}

/* The memory of a pointer that the call attaches differs from the host's from now on. */
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

/* ---- ends ------------------------------------------------------------------------------------ */

/*
 * Counts the references that the end takes of each entry. Whether another call changes one, or
 * updates where the end detaches.
 */
static bool count_taken(struct rex_present_table *table, const struct rex_range_lock *end)
{
    struct rex_entry *entry;
    bool is_changing = false;
    for (size_t i = 0; i < end->count; i++) {
        end->range[i].is_mapped = end->range[i].is_used = false;
        REX_EACH_ENTRY(table, entry, &end->range[i])
        {
            is_changing |= entry->owner != NULL || excludes_attach(end, &end->range[i], entry);
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

/* The entries of RANGE are awaited from now on. */
static void mark(struct rex_present_table *table, struct rex_range *range, bool is_held)
{
    struct rex_entry *entry;
    REX_EACH_ENTRY(table, entry, range)
    {
        entry->awaited++;
        entry->held += is_held;
    }
    range->marked = table->made + 1;
    range->is_held = is_held;
    __atomic_store_n(&table->awaiting, table->awaiting + 1, __ATOMIC_RELAXED);
}

static void unmark(struct rex_present_table *table, struct rex_range *range)
{
    struct rex_entry *entry;
    REX_EACH_ENTRY(table, entry, range)
    if (entry->born < range->marked) {
        entry->awaited--;
        entry->held -= range->is_held;
    }
    range->marked = 0;
    __atomic_store_n(&table->awaiting, table->awaiting - 1, __ATOMIC_RELAXED);
}

/*
 * Whether an end that has waited, and is not the last any more, goes on waiting: until those users
 * have left that there are now. It keeps nobody else waiting. If it subtracted at once, the end of
 * the begin that has come would be the last, and wait for a kernel that may wait for its thread.
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
 * Finds the ranges that the end has to have for itself, and that others use. Whether it waits for
 * the users of others.
 */
static bool find_used(const struct rex_present_table *table, struct rex_range_lock *end)
{
    struct rex_entry *entry;
    bool force = is_in_force(table), some = false;
    for (size_t i = 0; i < end->count; i++) {
        struct rex_range *range = &end->range[i];
        range->needs_all = !range->is_mapped;
        REX_EACH_ENTRY(table, entry, range)
        if (is_last(entry, entry->taken)) {
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
            if (end->range[i].needs_all && meets(end, &end->range[i], other, &first, force))
                end->range[i].is_used = true;
    }
    return some;
}

/* Marks the ranges that are used, and no others. Whether there are any. */
static bool mark_used(struct rex_present_table *table, struct rex_range_lock *end)
{
    bool some = false, is_free = false;
    for (size_t i = 0; i < end->count; i++) {
        struct rex_range *range = &end->range[i];
        bool was_marked = range->marked > 0;
        if (was_marked)
            unmark(table, range);
        if (range->is_used)
            mark(table, range, !end->wait.is_open);
        is_free |= was_marked && !range->is_used;
        range->was_used |= range->is_used;
        some |= range->is_used;
    }
    if (is_free)
        tell_change(table);
    return some;
}

static void go_on(struct rex_present_table *table, struct rex_range_lock *end)
{
    struct rex_entry *entry;
    for (size_t i = 0; i < end->count; i++) {
        struct rex_range *range = &end->range[i];
        REX_EACH_ENTRY(table, entry, range)
        {
            if (entry->owner == end)
                continue;
            if (is_last(entry, entry->taken)) {
                entry->owner = end;
                continue;
            }
            range->is_shared = true;
            add_user(entry, end, range);
            entry->refs -= entry->taken;
            entry->taken = 0;
        }
        end->known += range->is_shared;
    }
}

/* Whether the end has to wait: for a call that changes an entry, or for users. */
static bool has_to_wait(struct rex_present_table *table, struct rex_range_lock *end)
{
    for (size_t i = 0; i < end->count; i++)
        if (end->range[i].is_empty)
            forget_refs_around(table, &end->range[i]);
    if (end->is_all)
        touch(table, end->range);
    bool is_changing = count_taken(table, end);
    bool awaits_some = !is_changing && find_used(table, end);
    return mark_used(table, end) || awaits_some || is_changing;
}

/* ---- a call enters and leaves ---------------------------------------------------------------- */

/*
 * Fallback reasons of a launch by the driver that would have to wait. libomptarget's launches do
 * not wait for each other, because a kernel may wait for another one.
 */
static unsigned reasons_not_to_wait(const struct rex_range_lock *launch)
{
    bool is_beside = launch->met != NULL && launch->met->call == REX_CALL_LAUNCHES;
    return (rex_present_is_entered() ? REX_REASON_NESTED : 0u) |
           (is_beside ? REX_REASON_BESIDE : 0u);
}

#define FIRST_WINDOW 10 /* milliseconds */
#define TOLD_AFTER 10   /* seconds */

static int64_t milliseconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)(now.tv_sec - then->tv_sec) * 1000 + (now.tv_nsec - then->tv_nsec) / 1000000;
}

/* Where the window ends that a call is in after so many milliseconds. */
static int64_t find_window(int64_t waited, bool *is_open)
{
    int64_t begin = 0, length = FIRST_WINDOW;
    while (waited >= begin + 2 * length) {
        begin += 2 * length;
        length *= 2;
    }
    *is_open = waited >= begin + length;
    return begin + (*is_open ? 2 * length : length);
}

/* The lock is not held then: the log's function may launch. */
static void log_wait(struct rex_present_table *table, struct rex_table_wait *wait)
{
    static const char *const names[] = {"a launch", "a launch", "an update", "a begin", "an end"};
    wait->is_told = true;
    pthread_mutex_unlock(&table->lock);
    rex_log(REX_LOG_WARN,
            "%s with %zu bytes at %p on device %d has waited %d seconds for calls of other threads "
            "with the same memory",
            names[wait->call], wait->size, wait->begin, wait->number, TOLD_AFTER);
    pthread_mutex_lock(&table->lock);
}

/*
 * Waits until another call leaves, or until the window ends. A long wait is told once, because a
 * kernel may wait for this thread.
 */
static void wait_for_change(struct rex_present_table *table, struct rex_table_wait *wait)
{
    bool was_open = wait->is_open;
    int64_t end = find_window(milliseconds_since(&wait->since), &wait->is_open);
    int64_t nanoseconds = wait->since.tv_nsec + end % 1000 * 1000000;
    struct timespec until = {wait->since.tv_sec + end / 1000 + nanoseconds / 1000000000,
                             nanoseconds % 1000000000};
    uint32_t depth = rex_gate_pause();
    pthread_cond_timedwait(&table->changed, &table->lock, &until);
    if (depth > 0) {
        pthread_mutex_unlock(&table->lock);
        rex_gate_resume(depth);
        pthread_mutex_lock(&table->lock);
    }
    int64_t waited = milliseconds_since(&wait->since);
    find_window(waited, &wait->is_open);
    if (wait->is_open && !was_open)
        tell_change(table);
    if (waited >= TOLD_AFTER * 1000 && !wait->is_told)
        log_wait(table, wait);
}

void rex_present_wait(struct rex_table_wait *wait)
{
    struct rex_present_table *table = rex_present_table(wait->number);
    pthread_mutex_lock(&table->lock);
    if (table->changes == wait->changes)
        wait_for_change(table, wait);
    pthread_mutex_unlock(&table->lock);
}

/* The call has to wait. It is listed if others give way to it. */
static void begin_wait(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    struct rex_table_wait *wait = &ranges->wait;
    wait->changes = table->changes;
    if (ranges->is_waiting)
        return;
    ranges->is_waiting = true;
    if (ranges->call >= REX_CALL_BEGINS)
        push(table, ranges);
    if (wait->size > 0)
        return; /* a launch that has waited before */
    clock_gettime(CLOCK_REALTIME, &wait->since);
    wait->begin = (const void *)ranges->range->begin;
    wait->size = ranges->range->end - ranges->range->begin;
    wait->number = ranges->number;
    wait->call = ranges->call;
}

unsigned rex_present_pin(struct rex_range_lock *ranges)
{
    struct rex_present_table *table = rex_present_table(ranges->number);
    bool ends = ranges->call == REX_CALL_ENDS, begins = ranges->call == REX_CALL_BEGINS;
    ranges->is_ordered = ranges->count < 2;
    if (ranges->count > FEW || (begins && ranges->count > 1))
        put_in_order(ranges);
    pthread_mutex_lock(&table->lock);
    while (ends ? has_to_wait(table, ranges) : look(table, ranges)) {
        unsigned reasons = ranges->call == REX_CALL_BY_DRIVER ? reasons_not_to_wait(ranges) : 0u;
        if (reasons == 0)
            begin_wait(table, ranges);
        if (ranges->call == REX_CALL_BY_DRIVER) {
            pthread_mutex_unlock(&table->lock);
            return reasons;
        }
        wait_for_change(table, &ranges->wait);
    }
    if (ranges->is_listed)
        take_out(table, ranges);
    ranges->is_alone = table->at_work == NULL;
    ranges->known = 0;
    if (ends)
        go_on(table, ranges);
    else
        use_entries(table, ranges);
    if (begins)
        own_loose(table, ranges);
    if (begins && ranges->known < ranges->count && !ranges->is_all)
        make_entries(table, ranges);
    if (ranges->types & REX_MAP_PTR_AND_OBJ)
        mark_attached(table, ranges);
    if (ranges->is_all || ranges->known < ranges->count)
        push(table, ranges);
    table->by_driver += ranges->call <= REX_CALL_UPDATES;
    ranges->is_waiting = false;
    pthread_mutex_unlock(&table->lock);
    return 0;
}

static void disown(struct rex_present_table *table, const struct rex_range_lock *ranges)
{
    struct rex_entry *entry;
    for (size_t i = 0; i < ranges->count; i++)
        REX_EACH_ENTRY(table, entry, &ranges->range[i])
    if (entry->owner == ranges)
        entry->owner = NULL;
}

void rex_present_unpin(struct rex_range_lock *ranges)
{
    struct rex_present_table *table = rex_present_table(ranges->number);
    struct rex_entry *entry;
    bool some_are_gone = false, counts = ranges->call == REX_CALL_BEGINS && !ranges->is_refused;
    pthread_mutex_lock(&table->lock);
    table->by_driver -= ranges->call <= REX_CALL_UPDATES;
    for (size_t i = 0; i < ranges->count; i++) {
        const struct rex_range *range = &ranges->range[i];
        size_t j = rex_entries_near(table, range->at, range->begin);
        for (; (entry = rex_entry_touching(table, j, range->end)) != NULL; j++) {
            if (entry->owner == ranges && range->is_new) {
                entry->device = range->device;
                entry->is_gone |= !range->is_mapped && !entry->is_loose;
            }
            some_are_gone |= entry->is_gone;
            if (range->is_shared)
                remove_user(entry, ranges, range);
            /* A row that overlaps a mapping in part changes a count that is not known. */
            if (counts && range->is_mapped && !range->is_new)
                add_refs(entry, range->is_shared ? range->counts : REX_COUNTS_UNKNOWN);
        }
    }
    /* After all ranges: a new entry may lie in another range of the call, which comes before. */
    if (ranges->call >= REX_CALL_BEGINS)
        disown(table, ranges);
    if (ranges->is_listed)
        take_out(table, ranges);
    if (some_are_gone)
        rex_entries_clean(table);
    tell_change(table);
    pthread_mutex_unlock(&table->lock);
}

bool rex_present_is_awaited(const struct rex_range_lock *launch)
{
    struct rex_present_table *table = rex_present_table(launch->number);
    const struct rex_entry *entry;
    bool is_awaited = false;
    /* Relaxed: an end that begins to wait later may come after the launch. */
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
