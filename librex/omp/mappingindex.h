/*
 * mappingindex.h - mappings in the order of devices and addresses, none of which overlap.
 *
 * The owner of an index locks it. rex_index_is_empty() alone needs no lock.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAPPINGINDEX_H
#define REX_INTERNAL_MAPPINGINDEX_H

#include "omp/present.h"

struct rex_index_entry {
    struct rex_mapping mapping;
    uint32_t hidden; /* rows of calls that hide it */
    uint32_t begun;  /* rows that began it; REX_INDEX_MANY: more, or unknown */
};
#define REX_INDEX_MANY 2

struct rex_index {
    struct rex_index_entry *entries;
    size_t count, room;
};

/* A quick look, because most calls come while nothing is mapped. */
static inline bool rex_index_is_empty(const struct rex_index *all)
{
    /*
     * Relaxed: a mapping that another thread is just adding may be missed, as it would be a moment
     * earlier.
     */
    return __atomic_load_n(&all->count, __ATOMIC_RELAXED) == 0;
}

/* The index of the first mapping of device NUMBER that ends behind AT, or of a later device. */
size_t rex_index_behind(const struct rex_index *all, int number, uintptr_t at);

/*
 * The same. LAST is the result of such a call. The entry behind it is tried first, because rows
 * often come in the order of their addresses.
 */
size_t rex_index_near(const struct rex_index *all, size_t last, int number, uintptr_t at);

/*
 * The entry at INDEX if it has bytes of WANTED, else NULL. INDEX is no less than
 * rex_index_behind().
 */
struct rex_index_entry *rex_index_touching(const struct rex_index *all, size_t index,
                                           const struct rex_mapping *wanted);

/* The first entry that has bytes of WANTED, or NULL. */
static inline struct rex_index_entry *rex_index_first(const struct rex_index *all,
                                                      const struct rex_mapping *wanted)
{
    return rex_index_touching(all, rex_index_behind(all, wanted->number, wanted->begin), wanted);
}

static inline bool rex_index_has_all(const struct rex_index_entry *entry,
                                     const struct rex_mapping *wanted)
{
    return entry->hidden == 0 && entry->mapping.begin <= wanted->begin &&
           wanted->end <= entry->mapping.end;
}

static inline bool rex_index_is_whole(const struct rex_index_entry *entry,
                                      const struct rex_mapping *wanted)
{
    return entry->mapping.begin == wanted->begin && entry->mapping.end == wanted->end;
}

/*
 * Add COUNT mappings MADE, in order and on one device; the array is changed. A mapping that lies in
 * another one is not added. Other entries of its memory leave the index. False: no memory.
 */
bool rex_index_add(struct rex_index *all, struct rex_mapping *made, size_t count);

void rex_index_take_out(struct rex_index *all, const struct rex_index_entry *entry);
void rex_index_clear(struct rex_index *all);

#endif
