/*
 * mappings.c - the entries of the present table: what data calls have mapped, from where to where,
 * and where it is on the device.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/mappings.h"

#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "rex/queue.h"

static struct rex_present_table tables[REX_CUDA_DEVICES_MAX];

static void forget_all(void)
{
    for (size_t i = 0; i < REX_CUDA_DEVICES_MAX; i++) {
        rex_fork_renew(&tables[i].lock);
        tables[i].changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
        tables[i].count = 0;
        tables[i].attached_count = 0;
        tables[i].at_work = NULL;
        tables[i].by_driver = 0;
        tables[i].awaiting = 0;
        tables[i].ends = 0;
        tables[i].is_looking = false;
        tables[i].look_at = tables[i].loosened + REX_LOOSE_FEW;
    }
}

__attribute__((constructor(1001))) static void begin(void)
{
    forget_all();
}

REX_FORK_RENEWED(15, forget_all);

struct rex_present_table *rex_present_table(int number)
{
    return number >= 0 && number < REX_CUDA_DEVICES_MAX ? &tables[number] : NULL;
}

/* ---- entries --------------------------------------------------------------------------------- */

size_t rex_entries_near(const struct rex_present_table *table, size_t last, uintptr_t at)
{
    size_t low = 0, next = last + 1;
    if (last < table->count && table->entries[last].begin <= at && at < table->entries[last].end)
        return last;
    if (next < table->count && table->entries[last].end <= at && at < table->entries[next].end)
        return next;
    for (size_t count = table->count; count > 0;) {
        size_t half = count / 2;
        bool before = table->entries[low + half].end <= at;
        low += before ? half + 1 : 0;
        count = before ? count - half - 1 : half;
    }
    return low;
}

/*
 * A quick look, because most calls come while nothing is mapped. `count` is written under the lock,
 * and by an atomic for this reader.
 */
static bool is_empty(const struct rex_present_table *table)
{
    /*
     * Relaxed: a mapping that another thread is just adding may be missed, as it would be a moment
     * earlier.
     */
    return table == NULL || __atomic_load_n(&table->count, __ATOMIC_RELAXED) == 0;
}

/* The table may grow by COUNT without a write to these entries: they lie behind that. */
struct rex_entry *rex_entries_room(struct rex_present_table *table, size_t count)
{
    size_t needed = table->count + 2 * count;
    if (needed <= table->room)
        return table->entries + table->count + count;
    struct rex_entry *old = table->entries, *entries = malloc(2 * needed * sizeof *entries);
    if (entries == NULL)
        return NULL;
    if (old != NULL)
        memcpy(entries, old, table->count * sizeof *entries);
    /* In this order, because a fork does not wait for the lock: the child's pointer is valid. */
    __atomic_store_n(&table->entries, entries, __ATOMIC_SEQ_CST);
    table->room = 2 * needed;
    free(old);
    return entries + table->count + count;
}

/* Goes from the last to the first, so that each entry is moved once. */
void rex_entries_add(struct rex_present_table *table, const struct rex_entry *made, size_t count)
{
    size_t old = table->count, to = old + count;
    __atomic_store_n(&table->count, to, __ATOMIC_RELAXED);
    while (count > 0)
        if (old > 0 && table->entries[old - 1].begin > made[count - 1].begin)
            table->entries[--to] = table->entries[--old];
        else
            table->entries[--to] = made[--count];
}

/* Makes an entry from BEGIN to the next one, at most to END. False: no memory. */
static bool add_until_next(struct rex_present_table *table, uintptr_t begin, uintptr_t end)
{
    struct rex_entry *made = rex_entries_room(table, 1);
    if (made == NULL)
        return false;
    const struct rex_entry *next = rex_entry_touching(table, rex_entries_behind(table, begin), end);
    *made = (struct rex_entry){
        .begin = begin, .end = next != NULL ? next->begin : end, .born = ++table->made};
    rex_entries_add(table, made, 1);
    return true;
}

bool rex_entries_loosen(struct rex_present_table *table, uintptr_t begin, uintptr_t end)
{
    for (uintptr_t at = begin; at < end;) {
        bool is_mapped = rex_entry_touching(table, rex_entries_behind(table, at), at + 1) != NULL;
        if (!is_mapped && !add_until_next(table, at, end))
            return false;
        struct rex_entry *entry = &table->entries[rex_entries_behind(table, at)];
        entry->device = 0;
        entry->refs = REX_REFS_UNKNOWN;
        entry->is_gone = false;
        entry->is_loose = true;
        at = entry->end;
    }
    /* Relaxed: a thread that waits for this call reads it afterwards. */
    __atomic_add_fetch(&table->loosened, 1, __ATOMIC_RELAXED);
    return true;
}

static bool is_over(const struct rex_entry *entry)
{
    return entry->is_gone && entry->users == 0 && entry->owner == NULL;
}

/* The index of the first attached pointer that has a byte behind AT. */
static size_t attached_behind(const struct rex_present_table *table, uintptr_t at)
{
    size_t index = 0;
    while (index < table->attached_count && table->attached[index] + sizeof(void *) <= at)
        index++;
    return index;
}

void rex_attached_add(struct rex_present_table *table, uintptr_t address)
{
    size_t index = attached_behind(table, address), count = table->attached_count;
    if (index < count && table->attached[index] == address)
        return;
    if (count == table->attached_room) {
        size_t room = 2 * count + 8;
        uintptr_t *more = malloc(room * sizeof *more);
        if (more == NULL)
            return;
        if (count > 0)
            memcpy(more, table->attached, count * sizeof *more);
        uintptr_t *old = table->attached;
        /* In this order, as in rex_entries_room(). */
        __atomic_store_n(&table->attached, more, __ATOMIC_SEQ_CST);
        table->attached_room = room;
        free(old);
    }
    memmove(&table->attached[index + 1], &table->attached[index],
            (count - index) * sizeof *table->attached);
    table->attached[index] = address;
    __atomic_store_n(&table->attached_count, count + 1, __ATOMIC_RELAXED);
}

bool rex_attached_find(uintptr_t begin, uintptr_t end, int number, uintptr_t *address)
{
    struct rex_present_table *table = rex_present_table(number);
    /* Relaxed: no pointer is attached during an update of its memory. */
    if (table == NULL || __atomic_load_n(&table->attached_count, __ATOMIC_RELAXED) == 0)
        return false;
    pthread_mutex_lock(&table->lock);
    size_t index = attached_behind(table, begin);
    bool is_found = index < table->attached_count && table->attached[index] < end;
    if (is_found)
        *address = table->attached[index];
    pthread_mutex_unlock(&table->lock);
    return is_found;
}

/* Those that have no entry any more. */
static void clean_attached(struct rex_present_table *table)
{
    size_t left = 0;
    for (size_t i = 0; i < table->attached_count; i++) {
        uintptr_t at = table->attached[i];
        if (rex_entry_touching(table, rex_entries_behind(table, at), at + 1) != NULL)
            table->attached[left++] = at;
    }
    __atomic_store_n(&table->attached_count, left, __ATOMIC_RELAXED);
}

void rex_entries_clean(struct rex_present_table *table)
{
    size_t left = 0;
    bool some_are_attached = false;
    while (left < table->count && !is_over(&table->entries[left]))
        left++;
    for (size_t i = left; i < table->count; i++)
        if (is_over(&table->entries[i])) {
            some_are_attached |= table->entries[i].is_attached;
            if (table->dropped < table->entries[i].launch)
                table->dropped = table->entries[i].launch;
        } else
            table->entries[left++] = table->entries[i];
    __atomic_store_n(&table->count, left, __ATOMIC_RELAXED);
    if (some_are_attached)
        clean_attached(table);
}

/* ---- counts of an entry ---------------------------------------------------------------------- */

void rex_entries_forget_refs(struct rex_present_table *table, const struct rex_range *range)
{
    struct rex_entry *entry;
    REX_EACH_ENTRY(table, entry, range)
    entry->refs = REX_REFS_UNKNOWN;
}

void rex_entries_forget_beside(struct rex_present_table *table, const struct rex_range *range)
{
    size_t at = rex_entries_behind(table, range->begin);
    for (size_t i = at > 0 ? at - 1 : 0; i <= at + 1 && i < table->count; i++)
        table->entries[i].refs = REX_REFS_UNKNOWN;
}

/* ---- look-ups -------------------------------------------------------------------------------- */

bool rex_entry_find(uintptr_t begin, uintptr_t end, int number, struct rex_entry *found)
{
    struct rex_present_table *table = rex_present_table(number);
    if (is_empty(table))
        return false;
    pthread_mutex_lock(&table->lock);
    const struct rex_entry *entry =
        rex_entry_touching(table, rex_entries_behind(table, begin), end);
    if (entry != NULL)
        *found = *entry;
    pthread_mutex_unlock(&table->lock);
    return entry != NULL;
}

size_t rex_entries_beside(struct rex_present_table *table, const struct rex_range *range,
                          uintptr_t begins[2])
{
    size_t count = 0;
    pthread_mutex_lock(&table->lock);
    size_t next = rex_entries_behind(table, range->begin);
    for (size_t i = next > 0 ? next - 1 : 0;
         rex_entry_touching(table, next, range->end) == NULL && i <= next && i < table->count; i++)
        if (rex_entry_is_settled(&table->entries[i]))
            begins[count++] = table->entries[i].begin;
    pthread_mutex_unlock(&table->lock);
    return count;
}

static struct rex_mapping mapping_of(const struct rex_entry *entry)
{
    return (struct rex_mapping){entry->begin, entry->end, entry->device, entry->is_attached};
}

bool rex_mapping_find(const void *begin, size_t size, int number, struct rex_mapping *found)
{
    struct rex_entry entry;
    uintptr_t at = (uintptr_t)begin, end = rex_end_of(begin, size);
    if (!rex_entry_find(at, end, number, &entry) || !rex_entry_is_settled(&entry) ||
        !rex_entry_has(&entry, at, end))
        return false;
    *found = mapping_of(&entry);
    return true;
}

bool rex_mapping_find_any(const void *begin, size_t size, int number, struct rex_mapping *found)
{
    struct rex_entry entry;
    bool is_found = rex_entry_find((uintptr_t)begin, rex_end_of(begin, size), number, &entry);
    if (is_found)
        *found = mapping_of(&entry);
    return is_found;
}

bool rex_mapping_is_new(const void *begin, size_t size, int number)
{
    struct rex_entry entry;
    uintptr_t at = (uintptr_t)begin, end = rex_end_of(begin, size);
    return rex_entry_find(at, end, number, &entry) && entry.owner != NULL && entry.refs == 1 &&
           entry.begin == at && entry.end == end;
}

/* Only an end of this mapping alone owns an entry whose count it has found to be 1. */
bool rex_mapping_is_ending(const void *begin, size_t size, int number, struct rex_mapping *found)
{
    struct rex_entry entry;
    uintptr_t at = (uintptr_t)begin, end = rex_end_of(begin, size);
    if (!rex_entry_find(at, end, number, &entry) || entry.owner == NULL || entry.is_gone ||
        entry.refs != 1 || entry.taken != 1 || entry.begin != at || entry.end != end)
        return false;
    *found = mapping_of(&entry);
    return true;
}

/* ---- mappings that the table lacks ----------------------------------------------------------- */

uint64_t rex_mapping_generation = 1;
static bool some_are_unseen;

void rex_mapping_next_generation(void)
{
    __atomic_fetch_add(&rex_mapping_generation, 1, __ATOMIC_RELEASE);
}

void rex_mapped_unseen(void)
{
    __atomic_store_n(&some_are_unseen, true, __ATOMIC_RELEASE);
}

bool rex_all_mappings_are_seen(void)
{
    return !__atomic_load_n(&some_are_unseen, __ATOMIC_ACQUIRE);
}

void rex_mappings_forget(void)
{
    for (int number = 0; number < REX_CUDA_DEVICES_MAX; number++) {
        struct rex_present_table *table = &tables[number];
        if (is_empty(table))
            continue;
        rex_mapped_unseen();
        pthread_mutex_lock(&table->lock);
        for (size_t i = 0; i < table->count; i++)
            table->entries[i].is_gone = !table->entries[i].is_loose;
        rex_entries_clean(table);
        pthread_mutex_unlock(&table->lock);
    }
}

void rex_mapping_ended_unseen(void)
{
    rex_mappings_forget();
    rex_mapping_next_generation();
}

void rex_mappings_changed(void)
{
    rex_mapped_unseen();
    rex_mapping_ended_unseen();
}

/* ---- never ended ----------------------------------------------------------------------------- */

size_t rex_mappings_left(struct rex_mapping *first, int *number)
{
    size_t count = 0;
    for (int of = REX_CUDA_DEVICES_MAX - 1; of >= 0; of--) {
        struct rex_present_table *table = &tables[of];
        if (is_empty(table) || pthread_mutex_trylock(&table->lock) != 0)
            continue;
        for (size_t i = table->count; i > 0; i--) {
            const struct rex_entry *entry = &table->entries[i - 1];
            if (entry->is_loose || entry->is_kept)
                continue;
            *first = mapping_of(entry);
            *number = of;
            count++;
        }
        pthread_mutex_unlock(&table->lock);
    }
    return count;
}
