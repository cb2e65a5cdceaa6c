/*
 * entryform.c - offload entries in either of their two forms: 32 bytes (clang up to 19), 56 bytes
 * (from 20 on).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/entryform.h"

#include <stdlib.h>
#include <string.h>

#define NEW_VERSION 1

static struct rex_new_entry new_entry(struct rex_entries table, size_t index)
{
    struct rex_new_entry entry;
    memcpy(&entry, (const char *)table.begin + index * sizeof entry, sizeof entry);
    return entry;
}

static struct __tgt_offload_entry old_entry(struct rex_entries table, size_t index)
{
    struct __tgt_offload_entry entry;
    memcpy(&entry, (const char *)table.begin + index * sizeof entry, sizeof entry);
    return entry;
}

/*
 * The older form may have no address either (a requires record of clang 19); a pointer to its name
 * stands where the version is then.
 */
bool rex_entries_are_new(struct rex_entries table)
{
    if (table.size < sizeof(struct rex_new_entry) || table.size % sizeof(struct rex_new_entry) != 0)
        return false;
    struct rex_new_entry first = new_entry(table, 0);
    return first.zero == 0 && first.version == NEW_VERSION;
}

const char *rex_entries_name(struct rex_entries table, const void *key)
{
    bool is_new = rex_entries_are_new(table);
    size_t count =
        table.size / (is_new ? sizeof(struct rex_new_entry) : sizeof(struct __tgt_offload_entry));
    for (size_t i = 0; i < count; i++) {
        if (is_new && new_entry(table, i).address == key)
            return new_entry(table, i).name;
        if (!is_new && old_entry(table, i).addr == key)
            return old_entry(table, i).name;
    }
    return NULL;
}

/* At least one byte, so that an empty table has an address of its own as well. */
static void *room_for(size_t size)
{
    return malloc(size > 0 ? size : 1);
}

static int copy_as_old(struct rex_entries table, struct rex_entries *copy)
{
    size_t count = table.size / sizeof(struct rex_new_entry), used = 0;
    struct __tgt_offload_entry *entries = room_for(count * sizeof *entries);
    if (entries == NULL)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct rex_new_entry entry = new_entry(table, i);
        if (entry.kind == REX_ENTRY_KIND_OPENMP)
            entries[used++] = (struct __tgt_offload_entry){
                entry.address, entry.name, entry.size, (int32_t)entry.flags, (int32_t)entry.data};
    }
    *copy = (struct rex_entries){entries, used * sizeof *entries};
    return 0;
}

int rex_entries_copy(struct rex_entries table, bool old, struct rex_entries *copy)
{
    if (old && rex_entries_are_new(table))
        return copy_as_old(table, copy);
    void *bytes = room_for(table.size);
    if (bytes == NULL)
        return -1;
    if (table.size > 0)
        memcpy(bytes, table.begin, table.size);
    *copy = (struct rex_entries){bytes, table.size};
    return 0;
}
