/*
 * mappingindex.c - mappings in the order of devices and addresses, none of which overlap.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/mappingindex.h"

#include <stdlib.h>
#include <string.h>

/* ---- found ----------------------------------------------------------------------------------- */

static bool is_before(const struct rex_mapping *mapping, int number, uintptr_t at)
{
    return mapping->number != number ? mapping->number < number : mapping->end <= at;
}

size_t rex_index_behind(const struct rex_index *all, int number, uintptr_t at)
{
    size_t low = 0;
    for (size_t count = all->count; count > 0;) {
        size_t half = count / 2;
        bool before = is_before(&all->entries[low + half].mapping, number, at);
        low += before ? half + 1 : 0;
        count = before ? count - half - 1 : half;
    }
    return low;
}

struct rex_index_entry *rex_index_touching(const struct rex_index *all, size_t index,
                                           const struct rex_mapping *wanted)
{
    struct rex_index_entry *entry = &all->entries[index];
    return index < all->count && entry->mapping.number == wanted->number &&
                   entry->mapping.begin < wanted->end
               ? entry
               : NULL;
}

size_t rex_index_near(const struct rex_index *all, size_t last, int number, uintptr_t at)
{
    size_t next = last + 1;
    bool is_next = next < all->count && is_before(&all->entries[last].mapping, number, at) &&
                   !is_before(&all->entries[next].mapping, number, at);
    return is_next ? next : rex_index_behind(all, number, at);
}

/* ---- changed --------------------------------------------------------------------------------- */

static void set_count(struct rex_index *all, size_t count)
{
    /* Relaxed: written under the lock; a reader without the lock reads nothing else. */
    __atomic_store_n(&all->count, count, __ATOMIC_RELAXED);
}

void rex_index_clear(struct rex_index *all)
{
    set_count(all, 0);
}

static bool make_room(struct rex_index *all, size_t count)
{
    if (count <= all->room)
        return true;
    size_t room = 2 * count;
    struct rex_index_entry *entries = realloc(all->entries, room * sizeof *entries);
    if (entries == NULL)
        return false;
    all->entries = entries;
    all->room = room;
    return true;
}

static void take_out(struct rex_index *all, size_t index, size_t count)
{
    memmove(&all->entries[index], &all->entries[index + count],
            (all->count - index - count) * sizeof *all->entries);
    set_count(all, all->count - count);
}

/*
 * Whether the index needs an entry for MADE. It needs none if another thread has added a mapping
 * that contains MADE. Other entries of the same memory are removed, because their mappings have
 * ended unseen.
 */
static bool is_new(struct rex_index *all, const struct rex_mapping *made)
{
    size_t index = rex_index_behind(all, made->number, made->begin), old = 0;
    const struct rex_index_entry *entry = rex_index_touching(all, index, made);
    if (entry != NULL && rex_index_has_all(entry, made))
        return false;
    while (rex_index_touching(all, index + old, made) != NULL)
        old++;
    if (old > 0)
        take_out(all, index, old);
    return true;
}

/* Goes from the last to the first, so that each entry is moved once. */
static void merge(struct rex_index *all, const struct rex_mapping *made, size_t count)
{
    size_t old = all->count, to = old + count;
    set_count(all, to);
    while (count > 0) {
        const struct rex_mapping *last = &made[count - 1];
        if (old > 0 && !is_before(&all->entries[old - 1].mapping, last->number, last->begin))
            all->entries[--to] = all->entries[--old];
        else
            all->entries[--to] =
                (struct rex_index_entry){.mapping = made[--count], .begun = REX_INDEX_MANY};
    }
}

bool rex_index_add(struct rex_index *all, struct rex_mapping *made, size_t count)
{
    size_t added = 0;
    for (size_t i = 0; i < count; i++)
        if (is_new(all, &made[i]))
            made[added++] = made[i];
    if (!make_room(all, all->count + added))
        return false;
    merge(all, made, added);
    return true;
}

void rex_index_take_out(struct rex_index *all, const struct rex_index_entry *entry)
{
    take_out(all, (size_t)(entry - all->entries), 1);
}
