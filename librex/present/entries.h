/*
 * entries.h - entries in the order of their addresses: found, added, taken out.
 *
 * They are a skip list in one array, so that none of this depends on their number but by its
 * logarithm. An entry keeps its number, its index in the array, until it is taken out.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ENTRIES_H
#define REX_INTERNAL_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rex_range_lock;

#define REX_ENTRY_LEVELS 9 /* each has a fourth of the entries of the one below */

/* One mapping, or memory that the begin of a region is about to map. */
struct rex_entry {
    uintptr_t begin, end; /* both 0: the entry is not used */
    uintptr_t device;     /* the device address of `begin`; 0 if no launch goes by the driver */
    const struct rex_range_lock
        *owner;       /* the exclusive call that makes or ends the mapping, or NULL */
    bool is_gone;     /* it leaves the table when no call uses it any more */
    bool is_loose;    /* only libomptarget launches and copies here, see present.h */
    bool is_attached; /* a row has attached a pointer in the memory */
    /* libomptarget has kept it at an end: for such a row that is no member, it does for good */
    bool is_kept : 1;
    bool is_shown : 1;   /* the program has its device address: present.h */
    uint32_t users;      /* shared calls at work */
    uint32_t updates;    /* those of them that are updates, which the driver may copy for */
    uint32_t attaching;  /* those that attach or detach a pointer here */
    uint32_t older;      /* those that have begun before the current generation */
    uint32_t generation; /* of the users; a new one begins when an end waits for the older ones */
    uint32_t held;       /* rows of ends that keep launches and updates waiting */
    uint32_t awaited;    /* rows of ends that wait for the users, those of `held` too */
    uint64_t born;       /* the number of the entry, in the order in which entries are made */
    uint64_t launch;     /* the newest deferred launch with it */
    uint32_t refs;       /* libomptarget's reference count, or REX_REFS_UNKNOWN */
    uint32_t taken;      /* references that the end takes that is just being looked at */
    uint32_t next[REX_ENTRY_LEVELS]; /* the number of the next entry on each level, or 0 */
};

/* Two lines of the cache; what a launch reads is in the first one. */
_Static_assert(sizeof(struct rex_entry) == 128, "entries are found by a shift");

/* Entry 0 is the head of the list. */
struct rex_entry_list {
    struct rex_entry *entry;
    size_t count, room;
    uint64_t made;   /* entries so far */
    uint32_t used;   /* numbers given so far; 0: `entry` has no head yet */
    uint32_t free;   /* a number given back, the next one in its next[0]; 0: none */
    uint32_t levels; /* in use */
};

/* Forgets all entries. In a child of fork `room` may be less than there is. */
void rex_entries_reset(struct rex_entry_list *in);

/* Whether NUMBER, which may be a wrong guess, is that of an entry that has the byte AT. */
static inline bool rex_entry_is_at(const struct rex_entry_list *in, uint32_t number, uintptr_t at)
{
    return number < in->used && in->entry[number].begin <= at && at < in->entry[number].end;
}

/* The number of the last entry that ends at AT or before; 0: there is none. */
uint32_t rex_entries_before(const struct rex_entry_list *in, uintptr_t at);

/*
 * The number of the first entry that ends behind AT; 0: there is none. LAST is the result of such a
 * call, or a guess. That entry and the one behind it are tried first, because rows often come in
 * the order of their addresses.
 */
uint32_t rex_entries_near(const struct rex_entry_list *in, uint32_t last, uintptr_t at);

/* The entry NUMBER if there is one that has a byte before END, else NULL. */
static inline struct rex_entry *rex_entry_touching(const struct rex_entry_list *in, uint32_t number,
                                                   uintptr_t end)
{
    return number != 0 && in->entry[number].begin < end ? &in->entry[number] : NULL;
}

/* The first entry that has a byte from BEGIN to END; NULL: there is none. */
static inline struct rex_entry *rex_entries_first(const struct rex_entry_list *in, uintptr_t begin,
                                                  uintptr_t end)
{
    return rex_entry_touching(in, rex_entries_near(in, 0, begin), end);
}

/* All entries that have a byte from BEGIN to END, one after the other. */
#define REX_EACH_ENTRY_BETWEEN(in, entry, begin, end)                  \
    for ((entry) = rex_entries_first(in, begin, end); (entry) != NULL; \
         (entry) = rex_entry_touching(in, (entry)->next[0], end))

/* Make room for COUNT more entries, which may move all others. False: no memory. */
bool rex_entries_make_room(struct rex_entry_list *in, size_t count);

/*
 * Adds a copy of MADE, for which there is room. It touches no other, but attached pointers may
 * overlap.
 */
struct rex_entry *rex_entries_add(struct rex_entry_list *in, const struct rex_entry *made);

void rex_entries_take_out(struct rex_entry_list *in, struct rex_entry *entry);

#endif
