/*
 * entries.c - finds, adds and removes entries. The entries are in the order of their addresses.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/entries.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

void rex_entries_reset(struct rex_entry_list *in)
{
    __atomic_store_n(&in->count, 0, __ATOMIC_RELAXED);
    in->used = in->free = 0;
}

/*
 * Stores in BEFORE, for each level, the number of the last entry that ends at or before AT. Returns
 * the number for level 0.
 */
static uint32_t find_before(const struct rex_entry_list *in, uintptr_t at,
                            uint32_t before[REX_ENTRY_LEVELS])
{
    uint32_t last = 0, next;
    for (uint32_t level = in->levels; level-- > 0; before[level] = last)
        while ((next = in->entry[last].next[level]) != 0 && in->entry[next].end <= at)
            last = next;
    return last;
}

uint32_t rex_entries_before(const struct rex_entry_list *in, uintptr_t at)
{
    uint32_t before[REX_ENTRY_LEVELS];
    return in->count > 0 ? find_before(in, at, before) : 0;
}

uint32_t rex_entries_near(const struct rex_entry_list *in, uint32_t last, uintptr_t at)
{
    if (in->count == 0)
        return 0;
    if (rex_entry_is_at(in, last, at))
        return last;
    if (last < in->used && in->entry[last].end <= at) {
        uint32_t next = in->entry[last].next[0];
        if (next != 0 && at < in->entry[next].end)
            return next;
    }
    return in->entry[rex_entries_before(in, at)].next[0];
}

bool rex_entries_make_room(struct rex_entry_list *in, size_t count)
{
    size_t needed = 1 + in->count + count;
    if (needed > in->room) {
        struct rex_entry *old = in->entry, *more = malloc(2 * needed * sizeof *more);
        if (more == NULL)
            return false;
        if (in->used > 0)
            memcpy(more, old, in->used * sizeof *more);
        /*
         * Store the pointer before free(). A fork does not wait for the lock of the table, so a
         * fork may come between the two statements. The pointer must be valid in the child.
         */
        __atomic_store_n(&in->entry, more, __ATOMIC_SEQ_CST);
        in->room = 2 * needed;
        free(old);
    }
    if (in->used == 0) {
        in->entry[0] = (struct rex_entry){0};
        in->used = in->levels = 1;
    }
    return true;
}

struct rex_entry *rex_entries_add(struct rex_entry_list *in, const struct rex_entry *made)
{
    uint32_t before[REX_ENTRY_LEVELS] = {0}, number = in->free;
    if (number != 0)
        in->free = in->entry[number].next[0];
    else
        number = in->used++;
    REX_ASSERT(in->used <= in->room && made->begin < made->end);
    find_before(in, made->end - 1, before);
    struct rex_entry *entry = &in->entry[number];
    *entry = *made;
    entry->born = ++in->made;
    /* Give a fourth of the entries a second level, a sixteenth a third level, and so on. */
    uint64_t bits = entry->born * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    uint32_t levels = 1 + (uint32_t)__builtin_ctzll(bits | 1u << 2 * (REX_ENTRY_LEVELS - 1)) / 2;
    in->levels = levels > in->levels ? levels : in->levels;
    for (uint32_t level = 0; level < levels; level++) {
        uint32_t *link = &in->entry[before[level]].next[level];
        entry->next[level] = *link;
        *link = number;
    }
    __atomic_store_n(&in->count, in->count + 1, __ATOMIC_RELAXED);
    return entry;
}

void rex_entries_take_out(struct rex_entry_list *in, struct rex_entry *entry)
{
    uint32_t before[REX_ENTRY_LEVELS], number = (uint32_t)(entry - in->entry);
    REX_ASSERT(entry->users == 0 && entry->owner == NULL);
    find_before(in, entry->end - 1, before);
    for (uint32_t level = 0; level < in->levels; level++) {
        uint32_t *link = &in->entry[before[level]].next[level];
        if (*link == number)
            *link = entry->next[level];
    }
    while (in->levels > 1 && in->entry[0].next[in->levels - 1] == 0)
        in->levels--;
    *entry = (struct rex_entry){.next = {in->free}};
    in->free = number;
    __atomic_store_n(&in->count, in->count - 1, __ATOMIC_RELAXED);
}
