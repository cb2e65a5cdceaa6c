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

static bool is_launch(const struct rex_claim *claim)
{
    return claim->call == REX_CALL_BY_DRIVER || claim->call == REX_CALL_LAUNCHES;
}

/*
 * Whether CLAIM cannot go on with PLACE beside OTHER, which uses all memory, because a mapper tells
 * its rows to libomptarget alone.
 */
static bool excludes_all(const struct rex_claim *claim, const struct rex_place *place,
                         const struct rex_claim *other)
{
    bool maps = claim->call == REX_CALL_BY_DRIVER || claim->call == REX_CALL_BEGINS;
    return other->call == REX_CALL_ENDS || claim->call == REX_CALL_ENDS ||
           (maps && !place->is_whole && other->call != REX_CALL_UPDATES);
}

/*
 * A begin may go on beside a launch by libomptarget of the same memory: libomptarget counts both.
 * If the launch has mapped more, or less, the table would not know the mapping.
 */
static bool excludes_begin(const struct rex_place *place, const struct rex_claim *other,
                           const struct rex_place *with)
{
    return !place->is_whole && (other->call != REX_CALL_LAUNCHES || place->begin != with->begin ||
                                place->end != with->end);
}

/* Whether CLAIM cannot go on with PLACE beside OTHER, which has listed WITH: the same memory. */
static bool excludes(const struct rex_claim *claim, const struct rex_place *place,
                     const struct rex_claim *other, const struct rex_place *with)
{
    bool by_driver = claim->call == REX_CALL_BY_DRIVER || other->call == REX_CALL_BY_DRIVER;
    if (claim->call == REX_CALL_ENDS || other->call == REX_CALL_ENDS)
        return true;
    if (claim->call == REX_CALL_BEGINS)
        return excludes_begin(place, other, with);
    if (other->call == REX_CALL_BEGINS)
        return !place->is_whole && claim->call != REX_CALL_LAUNCHES;
    return is_launch(claim) && is_launch(other) && by_driver && !place->is_whole &&
           (place->is_changed || with->is_changed);
}

/*
 * Whether CLAIM gives way to OTHER, a data call that waits. Otherwise launches that follow each
 * other closely would keep it waiting for good.
 */
static bool gives_way(const struct rex_claim *claim, const struct rex_place *place,
                      const struct rex_place *with)
{
    return claim->call == REX_CALL_BY_DRIVER && !place->is_whole && !with->is_whole;
}

/*
 * Whether CLAIM cannot go on with PLACE beside OTHER. *FIRST is 0 for the first place of CLAIM. If
 * the places are in order, the loop skips those that end before PLACE, or begin behind it.
 */
static bool meets(const struct rex_claim *claim, const struct rex_place *place,
                  const struct rex_claim *other, size_t *first)
{
    if (other->is_all && !other->is_waiting)
        return excludes_all(claim, place, other);
    while (claim->is_ordered && *first < other->count && other->place[*first].end <= place->begin)
        ++*first;
    for (size_t i = *first; i < other->count; i++) {
        const struct rex_place *with = &other->place[i];
        if (other->is_ordered && with->begin >= place->end)
            break;
        if (with->is_shared || with->is_new || with->begin >= place->end ||
            place->begin >= with->end)
            continue;
        if (other->is_waiting ? gives_way(claim, place, with) : excludes(claim, place, other, with))
            return true;
    }
    return false;
}

/* The first call at work that CLAIM meets; NULL if there is none. */
static const struct rex_claim *find_met(const struct rex_present_table *table,
                                        const struct rex_claim *claim)
{
    for (const struct rex_claim *other = table->at_work; other != NULL; other = other->next) {
        size_t first = 0;
        for (size_t i = 0; i < claim->count && other != claim; i++)
            if (meets(claim, &claim->place[i], other, &first))
                return other;
    }
    return NULL;
}

static void take_out(struct rex_present_table *table, struct rex_claim *claim)
{
    struct rex_claim **at = &table->at_work;
    while (*at != NULL && *at != claim)
        at = &(*at)->next;
    if (*at != NULL)
        *at = claim->next;
    claim->is_listed = false;
}

/*
 * Whether the driver may use mappings, or does at the moment. Otherwise only libomptarget does, and
 * no call waits for users.
 */
static bool is_in_force(const struct rex_present_table *table)
{
    return table->by_driver > 0 || rex_backend_for(rex_process_reasons()) == REX_BACKEND_DRIVER;
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
static void forget_refs_around(struct rex_present_table *table, const struct rex_place *place)
{
    size_t at = rex_entries_behind(table, place->begin);
    forget_refs(table, at - 1); /* before the first one there is none: an index beyond all */
    forget_refs(table, at);
    forget_refs(table, at + 1);
}

/* ---- shared calls, and begins ---------------------------------------------------------------- */

/*
 * Looks up how the places are mapped. Whether the call has to wait: for an entry's owner, for an
 * update where it attaches a pointer, for an end that would be the last and waits for the entry's
 * users, or for a call without an entry.
 * `met` of the claim becomes that call.
 */
static bool look(const struct rex_present_table *table, struct rex_claim *claim)
{
    bool is_owned = false, is_awaited = false;
    size_t last = 0;
    for (size_t i = 0; i < claim->count && !is_owned; i++) {
        struct rex_place *place = &claim->place[i];
        last = place->at = rex_entries_near(table, last, place->begin);
        const struct rex_entry *entry;
        place->is_mapped = place->is_whole = place->is_loose = place->is_attached = false;
        place->device = 0;
        for (size_t j = last; (entry = rex_entry_touching(table, j, place->end)) != NULL; j++) {
            is_owned |= entry->owner != NULL ||
                        (place->attaches && !entry->is_attached && entry->updates > 0);
            is_awaited |= entry->awaited > 0 && is_last(entry, entry->needed);
            place->is_mapped = true;
            place->is_loose |= entry->is_loose;
            place->is_attached |= entry->is_attached;
            place->is_whole |= !entry->is_gone && rex_entry_has(entry, place->begin, place->end);
            if (place->is_whole && entry->device != 0)
                place->device = entry->device + (place->begin - entry->begin);
        }
    }
    is_awaited = is_awaited && claim->call != REX_CALL_BEGINS;
    claim->met = table->at_work != NULL ? find_met(table, claim) : NULL;
    return is_owned || ((is_awaited || claim->met != NULL) && is_in_force(table));
}

static int by_begin(const void *left, const void *right)
{
    const struct rex_place *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end < b->end) - (a->end > b->end); /* what contains others comes before them */
}

#define FEW 8 /* places that are compared faster than sorted */

static void put_in_order(struct rex_claim *claim)
{
    claim->is_ordered = true;
    for (size_t i = 1; i < claim->count && claim->is_ordered; i++)
        claim->is_ordered = by_begin(&claim->place[i - 1], &claim->place[i]) <= 0;
    if (!claim->is_ordered)
        qsort(claim->place, claim->count, sizeof *claim->place, by_begin);
    claim->is_ordered = true;
}

static void push(struct rex_present_table *table, struct rex_claim *claim)
{
    claim->next = table->at_work;
    table->at_work = claim;
    claim->is_listed = true;
}

static void use_entries(struct rex_present_table *table, struct rex_claim *claim)
{
    for (size_t i = 0; i < claim->count; i++) {
        struct rex_place *place = &claim->place[i];
        place->is_shared = place->is_whole;
        if (place->is_empty && claim->call != REX_CALL_UPDATES)
            forget_refs_around(table, place);
        if (place->is_shared) {
            table->entries[place->at].users++;
            table->entries[place->at].updates += claim->call == REX_CALL_UPDATES;
            claim->known++;
        }
    }
}

/* ---- begins ---------------------------------------------------------------------------------- */

/* The counts of all entries that PLACE touches are not known any more. */
static void touch(struct rex_present_table *table, const struct rex_place *place)
{
    struct rex_entry *entry;
    REX_EACH_ENTRY(table, entry, place)
    entry->refs = REX_REFS_UNKNOWN;
}

/*
 * A launch that has listed the memory of a new entry may have a reference to the mapping. An end
 * meets whatever is listed there.
 */
static void forget_listed(struct rex_present_table *table, const struct rex_claim *claim)
{
    struct rex_claim as_end = *claim;
    as_end.call = REX_CALL_ENDS;
    for (const struct rex_claim *other = table->at_work; other != NULL; other = other->next) {
        size_t first = 0;
        for (size_t i = 0; i < claim->count; i++)
            if (claim->place[i].is_new && meets(&as_end, &claim->place[i], other, &first))
                touch(table, &claim->place[i]);
    }
}

/*
 * Makes entries for the absent memory of a begin, which comes in order. A row inside another one
 * needs none. Without memory for entries nothing keeps launches by the driver away: none goes that
 * way any more.
 */
static void make_entries(struct rex_present_table *table, struct rex_claim *claim)
{
    struct rex_entry *made = rex_entries_room(table, claim->count);
    size_t count = 0;
    if (made == NULL) {
        rex_add_process_reasons(REX_REASON_NO_MEMORY);
        rex_mapped_unseen();
        return;
    }
    for (size_t i = 0; i < claim->count; i++) {
        struct rex_place *place = &claim->place[i];
        struct rex_entry *last = count > 0 ? &made[count - 1] : NULL;
        bool touches = last != NULL && place->begin < last->end;
        if (place->is_mapped || (place->is_empty && !touches))
            continue;
        if (touches) {
            add_refs(last, place->end <= last->end ? place->counts : REX_COUNTS_UNKNOWN);
            continue;
        }
        place->is_new = true;
        made[count++] =
            (struct rex_entry){.begin = place->begin,
                               .end = place->end,
                               .born = ++table->made,
                               .refs = place->counts == REX_COUNTS_ONE ? 1 : REX_REFS_UNKNOWN,
                               .owner = claim};
    }
    claim->known += count;
    rex_entries_add(table, made, count);
    if (table->at_work != NULL)
        forget_listed(table, claim);
}

/* The memory of a pointer that the call attaches differs from the host's from now on. */
static void note_attached(struct rex_present_table *table, const struct rex_claim *claim)
{
    struct rex_entry *entry;
    for (size_t i = 0; i < claim->count; i++)
        if (claim->place[i].attaches)
            REX_EACH_ENTRY(table, entry, &claim->place[i])
    entry->is_attached = true;
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* Counts the references that the end takes of each entry. Whether another call changes one. */
static bool count_taken(struct rex_present_table *table, const struct rex_claim *end)
{
    struct rex_entry *entry;
    bool is_changing = false;
    for (size_t i = 0; i < end->count; i++)
        REX_EACH_ENTRY(table, entry, &end->place[i])
        {
            if (entry->owner == NULL)
                entry->taken = 0;
            else
                is_changing = true;
        }
    for (size_t i = 0; i < end->count && !is_changing; i++) {
        const struct rex_place *place = &end->place[i];
        REX_EACH_ENTRY(table, entry, place)
        if (place->counts == REX_COUNTS_UNKNOWN || entry->taken == REX_REFS_UNKNOWN ||
            !rex_entry_has(entry, place->begin, place->end))
            entry->taken = REX_REFS_UNKNOWN;
        else
            entry->taken += place->counts == REX_COUNTS_ONE;
    }
    return is_changing;
}

/* The entries of PLACE are awaited from now on; those older than its last mark are already. */
static void mark(struct rex_present_table *table, struct rex_place *place)
{
    struct rex_entry *entry;
    REX_EACH_ENTRY(table, entry, place)
    {
        if (entry->born <= place->marked)
            continue;
        entry->needed =
            entry->awaited == 0 || entry->needed < entry->taken ? entry->taken : entry->needed;
        entry->awaited++;
    }
    place->marked = table->made;
}

static void unmark(struct rex_present_table *table, struct rex_place *place)
{
    struct rex_entry *entry;
    REX_EACH_ENTRY(table, entry, place)
    if (entry->born <= place->marked)
        entry->awaited--;
}

/*
 * Marks the places that the end has to have for itself while others use them. A marked place stays
 * so until nobody uses it, even if the end is not the last any more.
 */
static bool mark_used(struct rex_present_table *table, struct rex_claim *end)
{
    struct rex_entry *entry;
    bool some = false;
    for (size_t i = 0; i < end->count; i++) {
        struct rex_place *place = &end->place[i];
        bool is_used = false;
        place->needs_all = true;
        REX_EACH_ENTRY(table, entry, place)
        {
            place->needs_all = place->marked > 0 || is_last(entry, entry->taken);
            is_used |= place->needs_all && entry->users > 0;
        }
        if (is_used)
            mark(table, place);
        some |= is_used;
    }
    for (const struct rex_claim *other = table->at_work; other != NULL; other = other->next) {
        size_t first = 0;
        for (size_t i = 0; i < end->count; i++)
            if (end->place[i].needs_all && meets(end, &end->place[i], other, &first)) {
                mark(table, &end->place[i]);
                some = true;
            }
    }
    return some;
}

static void go_on(struct rex_present_table *table, struct rex_claim *end)
{
    struct rex_entry *entry;
    for (size_t i = 0; i < end->count; i++) {
        struct rex_place *place = &end->place[i];
        unmark(table, place);
        REX_EACH_ENTRY(table, entry, place)
        {
            if (entry->owner == end)
                continue;
            if (is_last(entry, entry->taken)) {
                entry->owner = end;
                continue;
            }
            place->is_shared = true;
            entry->users++;
            entry->refs -= entry->taken;
            entry->taken = 0;
        }
        end->known += place->is_shared;
    }
}

/* Whether the end has to wait: for a call that changes an entry, or for users. */
static bool has_to_wait(struct rex_present_table *table, struct rex_claim *end)
{
    for (size_t i = 0; i < end->count; i++)
        if (end->place[i].is_empty)
            forget_refs_around(table, &end->place[i]);
    if (end->is_all)
        touch(table, end->place);
    return count_taken(table, end) || (is_in_force(table) && mark_used(table, end));
}

/* ---- a call enters and leaves ---------------------------------------------------------------- */

/*
 * Fallback reasons of a launch by the driver that would have to wait. libomptarget's launches do
 * not wait for each other, because a kernel may wait for another one.
 */
static unsigned reasons_not_to_wait(const struct rex_claim *launch)
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
static void wait_for_change(struct rex_present_table *table, struct rex_claim *claim)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (claim->told_at.tv_sec == 0)
        claim->told_at = (struct timespec){now.tv_sec + TOLD_AFTER, now.tv_nsec};
    if (claim->is_told)
        pthread_cond_wait(&table->changed, &table->lock);
    else if (pthread_cond_timedwait(&table->changed, &table->lock, &claim->told_at) == ETIMEDOUT) {
        static const char *const names[] = {"a launch", "a launch", "an update", "a begin",
                                            "an end"};
        claim->is_told = true;
        pthread_mutex_unlock(&table->lock);
        rex_log(REX_LOG_WARN,
                "%s with %zu bytes at %p on device %d has waited %d seconds for calls of other "
                "threads with the same memory",
                names[claim->call], (size_t)(claim->place->end - claim->place->begin),
                (void *)claim->place->begin, claim->number, TOLD_AFTER);
        pthread_mutex_lock(&table->lock);
    }
}

unsigned rex_present_pin(struct rex_claim *claim)
{
    struct rex_present_table *table = rex_present_table(claim->number);
    bool ends = claim->call == REX_CALL_ENDS, begins = claim->call == REX_CALL_BEGINS;
    claim->is_ordered = claim->count < 2;
    if (claim->count > FEW || (begins && claim->count > 1))
        put_in_order(claim);
    pthread_mutex_lock(&table->lock);
    while (ends ? has_to_wait(table, claim) : look(table, claim)) {
        if ((ends || begins) && !claim->is_waiting)
            push(table, claim);
        unsigned reasons = claim->call == REX_CALL_BY_DRIVER ? reasons_not_to_wait(claim) : 0u;
        if (reasons != 0) {
            pthread_mutex_unlock(&table->lock);
            return reasons;
        }
        claim->is_waiting = true;
        wait_for_change(table, claim);
    }
    if (claim->is_listed)
        take_out(table, claim);
    claim->is_alone = table->at_work == NULL;
    claim->known = 0;
    if (ends)
        go_on(table, claim);
    else
        use_entries(table, claim);
    if (begins && claim->known < claim->count && !claim->is_all)
        make_entries(table, claim);
    if (claim->types & REX_MAP_PTR_AND_OBJ)
        note_attached(table, claim);
    if (claim->is_all || claim->known < claim->count)
        push(table, claim);
    table->by_driver += claim->call <= REX_CALL_UPDATES;
    claim->is_waiting = false;
    pthread_mutex_unlock(&table->lock);
    return 0;
}

void rex_present_unpin(struct rex_claim *claim)
{
    struct rex_present_table *table = rex_present_table(claim->number);
    struct rex_entry *entry;
    bool some_are_gone = false, counts = claim->call == REX_CALL_BEGINS && !claim->is_refused;
    size_t last = 0;
    pthread_mutex_lock(&table->lock);
    table->by_driver -= claim->call <= REX_CALL_UPDATES;
    for (size_t i = 0; i < claim->count; i++) {
        const struct rex_place *place = &claim->place[i];
        last = rex_entries_near(table, last, place->begin);
        for (size_t j = last; (entry = rex_entry_touching(table, j, place->end)) != NULL; j++) {
            if (entry->owner == claim && place->is_new) {
                entry->device = place->device;
                entry->is_gone |= !place->is_mapped && !entry->is_loose;
            }
            if (entry->owner == claim)
                entry->owner = NULL;
            some_are_gone |= entry->is_gone;
            entry->users -= place->is_shared;
            entry->updates -= place->is_shared && claim->call == REX_CALL_UPDATES;
            /* A row that overlaps a mapping in part changes a count that is not known. */
            if (counts && place->is_mapped && !place->is_new)
                add_refs(entry, place->is_shared ? place->counts : REX_COUNTS_UNKNOWN);
        }
    }
    if (claim->is_listed)
        take_out(table, claim);
    if (some_are_gone)
        rex_entries_clean(table);
    pthread_cond_broadcast(&table->changed);
    pthread_mutex_unlock(&table->lock);
}
