/*
 * entries.h - finds, adds and removes entries, which are in the order of their addresses.
 *
 * The entries are a skip list in one array: each operation takes logarithmic time. An entry keeps
 * its number, the index in the array, until it is removed.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ENTRIES_H
#define REX_INTERNAL_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rex_range_lock;

#define REX_ENTRY_LEVELS 9 /* each level has a fourth of the entries of the level below */

/* One mapping, or memory that the begin of a region is about to map. */
struct rex_entry {
    uintptr_t begin, end; /* both 0: the entry is not used */
    uintptr_t device;     /* device address of `begin`; 0 if only libomptarget launches on it */
    const struct rex_range_lock
        *owner;       /* the exclusive call that makes or ends the mapping, or NULL */
    bool is_gone;     /* the entry leaves the table after its last user */
    bool is_loose;    /* only libomptarget launches and copies here: present.h */
    bool is_attached; /* a row has attached a pointer in this memory */
    /*
     * libomptarget kept the mapping at an end: it never ends a non-member row with such a pointer
     */
    bool is_kept : 1;
    bool is_shown : 1;   /* the program has the device address: present.h */
    uint32_t users;      /* shared calls at work */
    uint32_t updates;    /* users that are updates, for which the driver may copy */
    uint32_t attaching;  /* users that attach or detach a pointer in this memory */
    uint32_t older;      /* users from before the current generation */
    uint32_t generation; /* of the users; a new one begins when an end waits for the older users */
    uint32_t held;       /* rows of ends that keep launches and updates waiting */
    uint32_t awaited;    /* rows of ends that wait for the users; includes `held` */
    uint64_t born;       /* serial number of the entry: newer entries have greater ones */
    uint64_t launch;     /* number of the newest deferred launch that uses the entry */
    uint32_t refs;       /* libomptarget's reference count, or REX_REFS_UNKNOWN */
    uint32_t taken;      /* references that the end under examination takes */
    uint32_t next[REX_ENTRY_LEVELS]; /* number of the next entry on each level, or 0 */
};

/* 128 bytes are two cache lines; the first has all that a launch reads. */
_Static_assert(sizeof(struct rex_entry) == 128, "entries are found by a shift");

/* Entry 0 is the head of the list. */
struct rex_entry_list {
    struct rex_entry *entry;
    size_t count, room;
    uint64_t made;   /* entries made so far */
    uint32_t used;   /* numbers given out so far; 0: `entry` has no head yet */
    uint32_t free;   /* first number of the free list, which next[0] links; 0: the list is empty */
    uint32_t levels; /* levels in use */
};

/* Forgets all entries. In a child of fork(), `room` may be smaller than the array. */
void rex_entries_reset(struct rex_entry_list *in);

/* Returns true if entry NUMBER has the byte AT. NUMBER may be a wrong guess. */
static inline bool rex_entry_is_at(const struct rex_entry_list *in, uint32_t number, uintptr_t at)
{
    return number < in->used && in->entry[number].begin <= at && at < in->entry[number].end;
}

/* Returns the number of the last entry that ends at or before AT; 0 if there is none. */
uint32_t rex_entries_before(const struct rex_entry_list *in, uintptr_t at);

/*
 * Returns the number of the first entry that ends after AT; 0 if there is none. LAST is a result of
 * this function, or a guess. Entry LAST and its successor are tried first, because rows often come
 * in the order of their addresses.
 */
uint32_t rex_entries_near(const struct rex_entry_list *in, uint32_t last, uintptr_t at);

/* Returns entry NUMBER if there is one and it has a byte before END, else NULL. */
static inline struct rex_entry *rex_entry_touching(const struct rex_entry_list *in, uint32_t number,
                                                   uintptr_t end)
{
    return number != 0 && in->entry[number].begin < end ? &in->entry[number] : NULL;
}

/* Returns the first entry that has a byte from BEGIN to END; NULL if there is none. */
static inline struct rex_entry *rex_entries_first(const struct rex_entry_list *in, uintptr_t begin,
                                                  uintptr_t end)
{
    return rex_entry_touching(in, rex_entries_near(in, 0, begin), end);
}

/* Visits all entries that have a byte from BEGIN to END, in order. */
#define REX_EACH_ENTRY_BETWEEN(in, entry, begin, end)                  \
    for ((entry) = rex_entries_first(in, begin, end); (entry) != NULL; \
         (entry) = rex_entry_touching(in, (entry)->next[0], end))

/*
 * Makes room for COUNT more entries, which may move all entries. Returns false if memory is short.
 */
bool rex_entries_make_room(struct rex_entry_list *in, size_t count);

/*
 * Adds a copy of MADE, after rex_entries_make_room(). MADE overlaps no entry; only attached
 * pointers may overlap.
 */
struct rex_entry *rex_entries_add(struct rex_entry_list *in, const struct rex_entry *made);

void rex_entries_take_out(struct rex_entry_list *in, struct rex_entry *entry);

#endif
