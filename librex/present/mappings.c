/*
 * mappings.c - the entries of the present table: host memory that data calls have mapped, and its
 * device addresses.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/mappings.h"

#include "base/process.h"
#include "rex/queue.h"

struct rex_present_table rex_present_tables[REX_CUDA_DEVICES_MAX];

__attribute__((constructor(1001))) static void forget_all(void)
{
    for (size_t i = 0; i < REX_CUDA_DEVICES_MAX; i++) {
        rex_fork_renew(&rex_present_tables[i].lock);
        rex_present_tables[i].changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
        rex_entries_reset(&rex_present_tables[i].mapped);
        rex_entries_reset(&rex_present_tables[i].attached);
        rex_present_tables[i].at_work = NULL;
        rex_present_tables[i].by_driver = 0;
        rex_present_tables[i].awaiting = 0;
        rex_present_tables[i].ends = 0;
        rex_present_tables[i].is_looking = false;
        rex_present_tables[i].look_at = rex_present_tables[i].loosened + REX_LOOSE_FEW;
    }
}

REX_FORK_RENEWED(15, forget_all);

/* ---- entries --------------------------------------------------------------------------------- */

/*
 * Returns true if TABLE is NULL or has no entry. Does not lock the table, to save time: during most
 * calls nothing is mapped. entries.c writes `count` atomically for this function.
 */
static bool is_empty(const struct rex_present_table *table)
{
    /* Relaxed: the result may miss a mapping that another thread is only now adding. */
    return table == NULL || __atomic_load_n(&table->mapped.count, __ATOMIC_RELAXED) == 0;
}

bool rex_entries_fill(struct rex_present_table *table, uintptr_t begin, uintptr_t end)
{
    for (uintptr_t at = begin; at < end;) {
        struct rex_entry *entry = rex_entries_first(&table->mapped, at, end);
        if (entry == NULL || entry->begin > at) {
            struct rex_entry made = {.begin = at,
                                     .end = entry != NULL ? entry->begin : end,
                                     .refs = REX_REFS_UNKNOWN,
                                     .is_loose = true};
            if (!rex_entries_make_room(&table->mapped, 1))
                return false;
            entry = rex_entries_add(&table->mapped, &made);
        }
        at = entry->end;
    }
    return true;
}

bool rex_entries_loosen(struct rex_present_table *table, uintptr_t begin, uintptr_t end)
{
    struct rex_entry *entry;
    if (!rex_entries_fill(table, begin, end))
        return false;
    REX_EACH_ENTRY_BETWEEN(&table->mapped, entry, begin, end)
    {
        entry->device = 0;
        entry->refs = REX_REFS_UNKNOWN;
        entry->is_gone = false;
        entry->is_loose = true;
    }
    /*
     * Relaxed, because the caller has locked the table. rex_pin_looked_at() calls
     * rex_present_pin(), and then reads `loosened` without the lock. If rex_present_pin() finds
     * this memory loose (present.h), rex_present_pin() has locked the table after this addition. So
     * rex_pin_looked_at() then reads the new value.
     */
    __atomic_add_fetch(&table->loosened, 1, __ATOMIC_RELAXED);
    return true;
}

void rex_attached_add(struct rex_present_table *table, uintptr_t address)
{
    struct rex_entry made = {.begin = address,
                             .end = rex_end_of((const void *)address, sizeof(void *))};
    const struct rex_entry *entry;
    REX_EACH_ENTRY_BETWEEN(&table->attached, entry, address, address + 1)
    if (entry->begin == address)
        return;
    if (rex_entries_make_room(&table->attached, 1))
        rex_entries_add(&table->attached, &made);
}

bool rex_attached_find(uintptr_t begin, uintptr_t end, int number, uintptr_t *address)
{
    struct rex_present_table *table = rex_present_table(number);
    /*
     * Relaxed: if another call attaches a pointer now, this load may miss the pointer. A missed
     * pointer does no harm: until the other call ends, no update call can copy the memory of that
     * pointer.
     */
    if (table == NULL || __atomic_load_n(&table->attached.count, __ATOMIC_RELAXED) == 0)
        return false;
    pthread_mutex_lock(&table->lock);
    const struct rex_entry *entry = rex_entries_first(&table->attached, begin, end);
    if (entry != NULL)
        *address = entry->begin;
    pthread_mutex_unlock(&table->lock);
    return entry != NULL;
}

void rex_entries_clean(struct rex_present_table *table, uintptr_t begin, uintptr_t end)
{
    struct rex_entry_list *mapped = &table->mapped, *attached = &table->attached;
    struct rex_entry *entry = rex_entries_first(mapped, begin, end), *next, *pointer = NULL;
    for (; entry != NULL; entry = next) {
        next = rex_entry_touching(mapped, entry->next[0], end);
        if (!entry->is_gone || entry->users > 0 || entry->owner != NULL)
            continue;
        uintptr_t last = entry->end;
        if (table->dropped < entry->launch)
            table->dropped = entry->launch;
        if (entry->is_attached)
            pointer = rex_entries_first(attached, entry->begin, last);
        rex_entries_take_out(mapped, entry);
        while (pointer != NULL) {
            struct rex_entry *other = rex_entry_touching(attached, pointer->next[0], last);
            if (rex_entries_first(mapped, pointer->begin, pointer->begin + 1) == NULL)
                rex_entries_take_out(attached, pointer);
            pointer = other;
        }
    }
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
    struct rex_entry_list *in = &table->mapped;
    uint32_t number = rex_entries_before(in, range->begin);
    for (int i = 0; i < 3 && in->count > 0; i++, number = in->entry[number].next[0])
        if (number != 0)
            in->entry[number].refs = REX_REFS_UNKNOWN;
}

/* ---- look-ups -------------------------------------------------------------------------------- */

bool rex_entry_find(uintptr_t begin, uintptr_t end, int number, struct rex_entry *found)
{
    struct rex_present_table *table = rex_present_table(number);
    if (is_empty(table))
        return false;
    pthread_mutex_lock(&table->lock);
    const struct rex_entry *entry = rex_entries_first(&table->mapped, begin, end);
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
    const struct rex_entry_list *in = &table->mapped;
    uint32_t number = rex_entries_before(in, range->begin);
    bool lies_in_one = rex_entries_first(in, range->begin, range->end) != NULL;
    for (int i = 0; i < 2 && in->count > 0 && !lies_in_one; i++, number = in->entry[number].next[0])
        if (number != 0 && rex_entry_is_settled(&in->entry[number]))
            begins[count++] = in->entry[number].begin;
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

/*
 * If the mapping has one reference, `refs` is 1. If an end call drops one reference, `taken` is 1.
 * So if both are 1, the owner of the entry is an end call that ends the mapping. In a new entry of
 * a begin call, `taken` is 0.
 */
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
        struct rex_present_table *table = &rex_present_tables[number];
        if (is_empty(table))
            continue;
        rex_mapped_unseen();
        pthread_mutex_lock(&table->lock);
        struct rex_entry *entry;
        REX_EACH_ENTRY_BETWEEN(&table->mapped, entry, 0, UINTPTR_MAX)
        entry->is_gone = !entry->is_loose;
        rex_entries_clean(table, 0, UINTPTR_MAX);
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
        struct rex_present_table *table = &rex_present_tables[of];
        if (is_empty(table) || pthread_mutex_trylock(&table->lock) != 0)
            continue;
        size_t others = count;
        const struct rex_entry *entry;
        REX_EACH_ENTRY_BETWEEN(&table->mapped, entry, 0, UINTPTR_MAX)
        {
            if (entry->is_loose || entry->is_kept)
                continue;
            if (count++ == others)
                *first = mapping_of(entry);
            *number = of;
        }
        pthread_mutex_unlock(&table->lock);
    }
    return count;
}
