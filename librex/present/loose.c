/*
 * loose.c - makes entries loose (present.h), and removes loose entries when libomptarget no longer
 * has their mappings.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/loose.h"

#include "omp/backend.h"
#include "omp/device.h"
#include "present/lookup.h"

/*
 * Finds the first entry from AT to END that is loose (present.h), and has no user and no owner.
 * Writes the entry to *FOUND. Returns false if there is no such entry. *CHANGES becomes a count
 * that grows when memory becomes loose, and when a begin call uses loose memory.
 */
static bool find_loose(struct rex_present_table *table, uintptr_t at, uintptr_t end,
                       struct rex_entry *found, unsigned *changes)
{
    const struct rex_entry *entry;
    pthread_mutex_lock(&table->lock);
    *changes = table->loosened + table->begun;
    REX_EACH_ENTRY_BETWEEN(&table->mapped, entry, at, end)
    if (entry->is_loose && entry->users == 0 && entry->owner == NULL)
        break;
    if (entry != NULL)
        *found = *entry;
    pthread_mutex_unlock(&table->lock);
    return entry != NULL;
}

/*
 * Removes loose entries in the ranges of BEGIN if libomptarget no longer has their mappings. Call
 * this function before the call with these ranges maps memory.
 */
static void look_at_loose(struct rex_present_table *table, const struct rex_range_lock *begin)
{
    const struct rex_omp *omp = rex_runtime_omp();
    struct rex_entry gone;
    unsigned changes;
    for (size_t i = 0; i < begin->count; i++)
        for (uintptr_t at = begin->range[i].begin;
             find_loose(table, at, begin->range[i].end, &gone, &changes); at = gone.end) {
            /*
             * Do not ask for the device address. On LLVM 14 and 15 a look-up of the address takes a
             * reference. Dropping the reference could end a mapping that a launch of another thread
             * still uses.
             */
            if (omp->is_present((const void *)gone.begin, begin->number) ||
                omp->is_present((const void *)(gone.end - 1), begin->number))
                continue;
            /*
             * Keep the entry if memory has become loose since find_loose() found the entry, or if a
             * begin call has used loose memory since find_loose(). In both cases the memory may be
             * mapped again.
             */
            pthread_mutex_lock(&table->lock);
            struct rex_entry *entry = rex_entries_first(&table->mapped, gone.begin, gone.end);
            if (table->loosened + table->begun == changes && entry != NULL &&
                entry->born == gone.born && entry->users == 0 && entry->owner == NULL) {
                entry->is_gone = true;
                rex_entries_clean(table, gone.begin, gone.end);
            }
            pthread_mutex_unlock(&table->lock);
        }
}

/*
 * If a program always uses new memory, no later call examines the loose entries of its old memory
 * (loose: see present.h). So from time to time this function examines all entries. The intervals
 * grow with the number of entries, so that a call examines three entries on average.
 */
static void look_at_all_loose(struct rex_present_table *table, int number)
{
    struct rex_range all = {.begin = 0, .end = UINTPTR_MAX};
    struct rex_range_lock ranges = {.range = &all, .count = 1, .number = number};
    pthread_mutex_lock(&table->lock);
    bool is_time = table->loosened >= table->look_at;
    pthread_mutex_unlock(&table->lock);
    if (!is_time)
        return;
    look_at_loose(table, &ranges);
    pthread_mutex_lock(&table->lock);
    table->look_at = table->loosened + REX_LOOSE_FEW + (unsigned)table->mapped.count / 2;
    pthread_mutex_unlock(&table->lock);
}

void rex_loosen_call(struct rex_present_table *table, const struct rex_range_lock *ranges)
{
    bool done = !ranges->is_all;
    look_at_all_loose(table, ranges->number);
    for (size_t i = 0; i < ranges->count && done; i++) {
        const struct rex_range *range = &ranges->range[i];
        uintptr_t begins[2];
        size_t count = range->is_empty ? rex_entries_beside(table, range, begins) : 0;
        bool is_over = !range->is_empty && !range->is_mapped && !range->is_new &&
                       rex_memory_presence((const void *)range->begin, range->end - range->begin,
                                           ranges->number) == REX_ABSENT;
        pthread_mutex_lock(&table->lock);
        if (!range->is_empty && !is_over)
            done = rex_entries_loosen(table, range->begin, range->end);
        while (count-- > 0)
            done &= rex_entries_loosen(table, begins[count], begins[count] + 1);
        pthread_mutex_unlock(&table->lock);
    }
    if (!done)
        rex_add_process_reasons(ranges->is_all ? REX_REASON_NOT_WAITED : REX_REASON_NO_MEMORY);
}

#define PIN_TRIES 8

void rex_pin_looked_at(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    for (int i = 0; i < PIN_TRIES; i++) {
        /*
         * Relaxed: an old value does no harm. Example: `loosened` is 1, but this load returns 0, so
         * look_at_loose() is not called. If rex_present_pin() then finds loose memory, the second
         * load returns 1, and the loop tries again.
         */
        unsigned loosened = __atomic_load_n(&table->loosened, __ATOMIC_RELAXED);
        if (loosened != 0)
            look_at_loose(table, ranges);
        rex_present_pin(ranges);
        if (loosened == __atomic_load_n(&table->loosened, __ATOMIC_RELAXED) || i + 1 == PIN_TRIES)
            return;
        bool some_are_loose = false;
        for (size_t j = 0; j < ranges->count; j++)
            some_are_loose |= ranges->range[j].is_loose;
        if (!some_are_loose)
            return;
        ranges->is_refused = true;
        rex_present_unpin(ranges);
        ranges->is_refused = false;
        for (size_t j = 0; j < ranges->count; j++)
            ranges->range[j].is_new = ranges->range[j].is_shared = false;
    }
}
