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
 * waits, and marks its memory: launches and updates of it wait, too, but begins do not. A begin
 * that makes the end a non-last one lets launches pass again, because a kernel may wait for them.
 *
 * Memory of launches that has no entry is listed. Two launches, one of them by the driver, exclude
 * each other there if either copies the memory back. A begin waits for the driver's launches there.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/present.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/process.h"
#include "omp/backend.h"
#include "omp/columns.h"
#include "omp/device.h"
#include "omp/mappings.h"
#include "omp/presentcalls.h"

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

/*
 * A begin may go on beside a launch by libomptarget of the same memory: libomptarget counts both.
 * If the launch has mapped more, or less, the table would not know the mapping.
 */
static bool excludes_begin(const struct rex_range *range, const struct rex_range_lock *other,
                           const struct rex_range *with)
{
    return !range->is_whole && (other->call != REX_CALL_LAUNCHES || range->begin != with->begin ||
                                range->end != with->end);
}

/* Whether RANGES cannot go on with RANGE beside OTHER, which has listed WITH: the same memory. */
static bool excludes(const struct rex_range_lock *ranges, const struct rex_range *range,
                     const struct rex_range_lock *other, const struct rex_range *with)
{
    bool by_driver = ranges->call == REX_CALL_BY_DRIVER || other->call == REX_CALL_BY_DRIVER;
    if (ranges->call == REX_CALL_ENDS || other->call == REX_CALL_ENDS)
        return true;
    if (ranges->call == REX_CALL_BEGINS)
        return excludes_begin(range, other, with);
    if (other->call == REX_CALL_BEGINS)
        return !range->is_whole && ranges->call != REX_CALL_LAUNCHES;
    return is_launch(ranges) && is_launch(other) && by_driver && !range->is_whole &&
           (range->is_changed || with->is_changed);
}

/*
 * Whether RANGES gives way to OTHER, a data call that waits. Otherwise launches that follow each
 * other closely would keep it waiting for good.
 */
static bool gives_way(const struct rex_range_lock *ranges, const struct rex_range *range,
                      const struct rex_range *with)
{
    return ranges->call == REX_CALL_BY_DRIVER && !range->is_whole && !with->is_whole;
}

/*
 * Whether RANGES cannot go on with RANGE beside OTHER. *FIRST is 0 for the first one of RANGES. If
 * they are in order, the loop skips those that end before RANGE, or begin behind it.
 */
static bool meets(const struct rex_range_lock *ranges, const struct rex_range *range,
                  const struct rex_range_lock *other, size_t *first)
{
    if (other->is_all && !other->is_waiting)
        return excludes_all(ranges, range, other);
    while (ranges->is_ordered && *first < other->count && other->range[*first].end <= range->begin)
        ++*first;
    for (size_t i = *first; i < other->count; i++) {
        const struct rex_range *with = &other->range[i];
        if (other->is_ordered && with->begin >= range->end)
            break;
        if (with->is_shared || with->is_new || with->begin >= range->end ||
            range->begin >= with->end)
            continue;
        if (other->is_waiting ? gives_way(ranges, range, with)
                              : excludes(ranges, range, other, with))
            return true;
    }
    return false;
}

/* The first call at work that RANGES meets; NULL if there is none. */
static const struct rex_range_lock *find_met(const struct rex_present_table *table,
                                             const struct rex_range_lock *ranges)
{
    for (const struct rex_range_lock *other = table->at_work; other != NULL; other = other->next) {
        size_t first = 0;
        for (size_t i = 0; i < ranges->count && other != ranges; i++)
            if (meets(ranges, &ranges->range[i], other, &first))
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

/*
 * Whether the driver may use mappings, or does at the moment. Otherwise only libomptarget does, and
 * no call waits for users.
 */
static bool is_in_force(const struct rex_present_table *table)
{
    return table->by_driver > 0 || rex_process_reasons() == 0;
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

/*
 * Looks up how the ranges are mapped. Whether the call has to wait: for an entry's owner, for an
 * update where it attaches a pointer, or for a call without an entry. An end that would be the last
 * waits for the entry's users, too. `met` of RANGES becomes that call.
 */
static bool look(const struct rex_present_table *table, struct rex_range_lock *ranges)
{
    bool is_owned = false, is_awaited = false;
    size_t last = 0;
    for (size_t i = 0; i < ranges->count && !is_owned; i++) {
        struct rex_range *range = &ranges->range[i];
        last = range->at = rex_entries_near(table, last, range->begin);
        const struct rex_entry *entry;
        range->is_mapped = range->is_whole = range->is_loose = range->is_attached = false;
        range->device = 0;
        for (size_t j = last; (entry = rex_entry_touching(table, j, range->end)) != NULL; j++) {
            is_owned |= entry->owner != NULL ||
                        (range->attaches && !entry->is_attached && entry->updates > 0);
            is_awaited |= entry->awaited > 0 && is_last(entry, entry->needed);
            range->is_mapped = true;
            range->is_loose |= entry->is_loose;
            range->is_attached |= entry->is_attached;
            range->is_whole |= !entry->is_gone && rex_entry_has(entry, range->begin, range->end);
            if (range->is_whole && entry->device != 0)
                range->device = entry->device + (range->begin - entry->begin);
        }
    }
    is_awaited = is_awaited && ranges->call != REX_CALL_BEGINS;
    ranges->met = table->at_work != NULL ? find_met(table, ranges) : NULL;
    return is_owned || ((is_awaited || ranges->met != NULL) && is_in_force(table));
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

static void use_entries(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        struct rex_range *range = &ranges->range[i];
        range->is_shared = range->is_whole;
        if (range->is_empty && ranges->call != REX_CALL_UPDATES)
            forget_refs_around(table, range);
        if (range->is_shared) {
            table->entries[range->at].users++;
            if (ranges->call == REX_CALL_UPDATES)
                table->entries[range->at].updates++;
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
            if (ranges->range[i].is_new && meets(&as_end, &ranges->range[i], other, &first))
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

/* The memory of a pointer that the call attaches differs from the host's from now on. */
static void mark_attached(struct rex_present_table *table, const struct rex_range_lock *ranges)
{
    struct rex_entry *entry;
    for (size_t i = 0; i < ranges->count; i++)
        if (ranges->range[i].attaches)
            REX_EACH_ENTRY(table, entry, &ranges->range[i])
    entry->is_attached = true;
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* Counts the references that the end takes of each entry. Whether another call changes one. */
static bool count_taken(struct rex_present_table *table, const struct rex_range_lock *end)
{
    struct rex_entry *entry;
    bool is_changing = false;
    for (size_t i = 0; i < end->count; i++)
        REX_EACH_ENTRY(table, entry, &end->range[i])
        {
            if (entry->owner == NULL)
                entry->taken = 0;
            else
                is_changing = true;
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

/* The entries of RANGE are awaited from now on; those older than its last mark are already. */
static void mark(struct rex_present_table *table, struct rex_range *range)
{
    struct rex_entry *entry;
    REX_EACH_ENTRY(table, entry, range)
    {
        if (entry->born <= range->marked)
            continue;
        entry->needed =
            entry->awaited == 0 || entry->needed < entry->taken ? entry->taken : entry->needed;
        entry->awaited++;
    }
    range->marked = table->made;
}

static void unmark(struct rex_present_table *table, struct rex_range *range)
{
    struct rex_entry *entry;
    REX_EACH_ENTRY(table, entry, range)
    if (entry->born <= range->marked)
        entry->awaited--;
}

/*
 * Marks the ranges that the end has to have for itself while others use them. A marked range stays
 * so until nobody uses it, even if the end is not the last any more.
 */
static bool mark_used(struct rex_present_table *table, struct rex_range_lock *end)
{
    struct rex_entry *entry;
    bool some = false;
    for (size_t i = 0; i < end->count; i++) {
        struct rex_range *range = &end->range[i];
        bool is_used = false;
        range->needs_all = true;
        REX_EACH_ENTRY(table, entry, range)
        {
            range->needs_all = range->marked > 0 || is_last(entry, entry->taken);
            is_used |= range->needs_all && entry->users > 0;
        }
        if (is_used)
            mark(table, range);
        some |= is_used;
    }
    for (const struct rex_range_lock *other = table->at_work; other != NULL; other = other->next) {
        size_t first = 0;
        for (size_t i = 0; i < end->count; i++)
            if (end->range[i].needs_all && meets(end, &end->range[i], other, &first)) {
                mark(table, &end->range[i]);
                some = true;
            }
    }
    return some;
}

static void go_on(struct rex_present_table *table, struct rex_range_lock *end)
{
    struct rex_entry *entry;
    for (size_t i = 0; i < end->count; i++) {
        struct rex_range *range = &end->range[i];
        unmark(table, range);
        REX_EACH_ENTRY(table, entry, range)
        {
            if (entry->owner == end)
                continue;
            if (is_last(entry, entry->taken)) {
                entry->owner = end;
                continue;
            }
            range->is_shared = true;
            entry->users++;
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
    return count_taken(table, end) || (is_in_force(table) && mark_used(table, end));
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

#define TOLD_AFTER 10 /* seconds */

/*
 * Waits until another call leaves. A long wait is told once, because a kernel may wait for this
 * thread. The lock is not held then: the log's function may launch.
 */
static void wait_for_change(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ranges->told_at.tv_sec == 0)
        ranges->told_at = (struct timespec){now.tv_sec + TOLD_AFTER, now.tv_nsec};
    if (ranges->is_told)
        pthread_cond_wait(&table->changed, &table->lock);
    else if (pthread_cond_timedwait(&table->changed, &table->lock, &ranges->told_at) == ETIMEDOUT) {
        static const char *const names[] = {"a launch", "a launch", "an update", "a begin",
                                            "an end"};
        ranges->is_told = true;
        pthread_mutex_unlock(&table->lock);
        rex_log(REX_LOG_WARN,
                "%s with %zu bytes at %p on device %d has waited %d seconds for calls of other "
                "threads with the same memory",
                names[ranges->call], (size_t)(ranges->range->end - ranges->range->begin),
                (void *)ranges->range->begin, ranges->number, TOLD_AFTER);
        pthread_mutex_lock(&table->lock);
    }
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
        if ((ends || begins) && !ranges->is_waiting)
            push(table, ranges);
        unsigned reasons = ranges->call == REX_CALL_BY_DRIVER ? reasons_not_to_wait(ranges) : 0u;
        if (reasons != 0) {
            pthread_mutex_unlock(&table->lock);
            return reasons;
        }
        ranges->is_waiting = true;
        wait_for_change(table, ranges);
    }
    if (ranges->is_listed)
        take_out(table, ranges);
    ranges->is_alone = table->at_work == NULL;
    ranges->known = 0;
    if (ends)
        go_on(table, ranges);
    else
        use_entries(table, ranges);
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
            entry->users -= range->is_shared;
            if (range->is_shared && ranges->call == REX_CALL_UPDATES)
                entry->updates--;
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
    pthread_cond_broadcast(&table->changed);
    pthread_mutex_unlock(&table->lock);
}
