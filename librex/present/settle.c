/*
 * settle.c - brings the entries of a data call up to date with libomptarget, after the call.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/settle.h"

#include "omp/backend.h"
#include "omp/device.h"
#include "present/mappings.h"

/*
 * Settles one entry of the call END, and finds the next. The call owns an entry if the call may
 * have ended the entry's mapping. *AT is the begin of the entry to settle; 0: no entry. STAYS is
 * true if the mapping of the entry still exists. If STAYS is false and the entry is not loose
 * (present.h), marks the entry as gone. Then sets *AT to the begin of the next entry in RANGE that
 * END owns. Returns false if there is no next entry.
 */
static bool settle_entry(struct rex_present_table *table, const struct rex_range_lock *end,
                         const struct rex_range *range, uintptr_t *at, bool stays)
{
    struct rex_entry *entry;
    uintptr_t next = 0;
    pthread_mutex_lock(&table->lock);
    uintptr_t from = *at > range->begin ? *at : range->begin;
    REX_EACH_ENTRY_BETWEEN(&table->mapped, entry, from, range->end)
    {
        if (next != 0)
            break;
        if (entry->owner != end)
            continue;
        if (entry->begin == *at) {
            entry->is_gone |= !stays && !entry->is_loose;
            entry->is_kept |= stays && entry->is_attached;
            entry->refs = REX_REFS_UNKNOWN;
            /*
             * If the process has fallback reasons, END perhaps has not waited for a launch by
             * libomptarget. If such a launch has added a reference, the launch itself ends the
             * mapping, and no later call checks the entry. So the memory becomes loose.
             */
            if (stays && rex_process_reasons() != 0)
                rex_entries_loosen(table, entry->begin, entry->end);
        } else
            next = entry->begin;
    }
    pthread_mutex_unlock(&table->lock);
    *at = next;
    return next != 0;
}

/*
 * Searches the entries from AT upward, in order. Copies to *FOUND the first entry that is not gone,
 * and that no call except END owns. Returns false if there is none.
 */
static bool find_unowned(struct rex_present_table *table, const struct rex_range_lock *end,
                         uintptr_t at, struct rex_entry *found)
{
    const struct rex_entry *entry;
    pthread_mutex_lock(&table->lock);
    REX_EACH_ENTRY_BETWEEN(&table->mapped, entry, at, UINTPTR_MAX)
    if ((entry->owner == NULL || entry->owner == end) && !entry->is_gone)
        break;
    if (entry != NULL)
        *found = *entry;
    pthread_mutex_unlock(&table->lock);
    return entry != NULL;
}

/*
 * Call this after END if END has perhaps ended mappings outside its rows, for example by a mapper.
 * For each entry that no other call owns, asks libomptarget if the mapping still exists. If the
 * mapping still exists, marks the reference count of the entry as unknown. If not, marks the entry
 * as gone, unless the entry is loose (present.h).
 */
static void settle_table(struct rex_present_table *table, const struct rex_range_lock *end)
{
    struct rex_entry asked;
    for (uintptr_t at = 0; find_unowned(table, end, at, &asked); at = asked.end) {
        const struct rex_omp *omp = rex_runtime_omp();
        bool stays = omp->is_present((const void *)asked.begin, end->number) &&
                     omp->is_present((const void *)(asked.end - 1), end->number);
        pthread_mutex_lock(&table->lock);
        struct rex_entry *entry = rex_entries_first(&table->mapped, asked.begin, asked.end);
        if (entry != NULL && entry->born == asked.born) {
            entry->is_gone |= !stays && !entry->is_loose;
            entry->refs = REX_REFS_UNKNOWN;
        }
        pthread_mutex_unlock(&table->lock);
    }
    pthread_mutex_lock(&table->lock);
    rex_entries_clean(table, 0, UINTPTR_MAX);
    pthread_mutex_unlock(&table->lock);
}

/*
 * A row of size 0 may end the nearest mapping, even if the two do not touch
 * (rex_entries_forget_beside()). Example: a[8:2] is mapped with the base a, and END has the row
 * a[0:0]. For each row of size 0, looks at the nearest entry before the row and at the nearest
 * entry after the row. Removes each of the two entries whose mapping libomptarget no longer has.
 */
static void look_beside(struct rex_present_table *table, const struct rex_range_lock *end)
{
    for (size_t i = 0; i < end->count; i++) {
        uintptr_t begins[2];
        size_t count =
            end->range[i].is_empty ? rex_entries_beside(table, &end->range[i], begins) : 0;
        while (count-- > 0) {
            if (rex_runtime_omp()->is_present((const void *)begins[count], end->number))
                continue;
            rex_mapped_unseen(); /* another thread may have mapped the memory again */
            pthread_mutex_lock(&table->lock);
            struct rex_entry *entry =
                rex_entries_first(&table->mapped, begins[count], begins[count] + 1);
            if (entry != NULL)
                entry->is_gone = true;
            rex_entries_clean(table, begins[count], begins[count] + 1);
            pthread_mutex_unlock(&table->lock);
        }
    }
}

void rex_settle_end(struct rex_range_lock *end)
{
    struct rex_present_table *table = rex_present_table(end->number);
    /*
     * Ask libomptarget about all entries of the table in two cases:
     * - The rows are unknown (`is_all`).
     * - A row has REX_MAP_DELETE, and librex has not seen all mappings. The row ends the whole
     *   mapping, which may be larger than the row and have several entries.
     */
    bool may_end_others =
        end->is_all || ((end->types & REX_MAP_DELETE) && !rex_all_mappings_are_seen());
    if (may_end_others)
        settle_table(table, end);
    for (size_t i = 0; i < end->count && !may_end_others; i++) {
        uintptr_t at = 0;
        bool stays = false;
        while (settle_entry(table, end, &end->range[i], &at, stays))
            stays = rex_runtime_omp()->is_present((const void *)at, end->number);
    }
    look_beside(table, end);
}

/*
 * Makes the new entries of BEGIN loose (loose: see present.h), because they lie in an older mapping
 * that has no entry. librex does not remove the new entries: the older mapping may have ended
 * before libomptarget made the call BEGIN, and the table would then lack BEGIN's own mapping.
 * libomptarget aborts if a later call maps memory around a mapping that the table lacks.
 */
static void loosen_new(const struct rex_range_lock *begin)
{
    struct rex_present_table *table = rex_present_table(begin->number);
    pthread_mutex_lock(&table->lock);
    for (size_t i = 0; i < begin->count; i++)
        if (begin->range[i].is_new)
            rex_entries_loosen(table, begin->range[i].begin, begin->range[i].end);
    pthread_mutex_unlock(&table->lock);
}

void rex_settle_begin(struct rex_range_lock *begin)
{
    const struct rex_omp *omp = rex_runtime_omp();
    if (begin->is_unseen) {
        loosen_new(begin);
        return;
    }
    bool by_driver = rex_process_reasons() == 0, is_device = begin->number < rex_devices_known();
    for (size_t i = 0; i < begin->count; i++) {
        struct rex_range *range = &begin->range[i];
        const void *at = (const void *)range->begin;
        if (!range->is_new)
            continue;
        range->is_mapped = (by_driver && is_device) || (omp->is_present(at, begin->number) &&
                                                        !rex_device_is_host(begin->number));
        if (range->is_mapped && by_driver) {
            range->device = (uintptr_t)omp->mapped_pointer(at, begin->number);
            range->is_mapped = range->device != 0;
        }
    }
}
