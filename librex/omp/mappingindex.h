/*
 * mappingindex.h - mappings in the order of devices and addresses, none of which overlap.
 *
 * Whoever has an index locks it; only whether it is empty may be asked without the lock.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAPPINGINDEX_H
#define REX_INTERNAL_MAPPINGINDEX_H

#include "omp/present.h"

struct rex_index_entry {
    struct rex_mapping mapping;
    uint32_t hidden; /* by that many rows of calls */
    uint32_t begun;  /* by that many; REX_INDEX_MANY: more, or nobody knows */
};
#define REX_INDEX_MANY 2

struct rex_index {
    struct rex_index_entry *entries;
    size_t count, room;
};

/* Most calls come while nothing is mapped. */
static inline bool rex_index_is_empty(const struct rex_index *all)
{
    /*
     * Relaxed: a mapping that another thread is just adding is missed, as it would be a moment
     * earlier.
     */
    return __atomic_load_n(&all->count, __ATOMIC_RELAXED) == 0;
}

/* The first mapping of device NUMBER that ends behind AT, or one that comes later. */
size_t rex_index_behind(const struct rex_index *all, int number, uintptr_t at);

/*
 * The same. Rows often come in the order of their addresses: the one behind LAST, which such a
 * question has found, is tried first.
 */
size_t rex_index_near(const struct rex_index *all, size_t last, int number, uintptr_t at);

/* The entry at INDEX, which is no earlier than rex_index_behind(), if it has bytes of WANTED. */
struct rex_index_entry *rex_index_touching(const struct rex_index *all, size_t index,
                                           const struct rex_mapping *wanted);

/* The first that has bytes of WANTED; NULL: none has. */
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
 * COUNT mappings MADE, in order and on one device; the array is changed. One that lies in a mapping
 * is not added; what else is known of its memory leaves the index. False: no memory.
 */
bool rex_index_add(struct rex_index *all, struct rex_mapping *made, size_t count);

void rex_index_take_out(struct rex_index *all, const struct rex_index_entry *entry);
void rex_index_clear(struct rex_index *all);

#endif
