/*
 * entries.h - finds, adds and removes entries. The entries are in the order of their addresses.
 *
 * The list is a skip list in one array, so each operation takes logarithmic time. The number of an
 * entry, its index in the array, does not change until the entry is removed.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ENTRIES_H
#define REX_INTERNAL_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rex_range_lock;

/*
 * number of levels of the skip list; on average a level has a fourth of the entries of the level
 * below
 */
#define REX_ENTRY_LEVELS 9

/*
 * An entry of the present table: one mapping, memory that a begin call is about to map, or loose
 * memory (present.h). A shared call that uses the memory is a user of the entry. An exclusive call
 * is the owner of the entry. present.c explains shared and exclusive calls.
 */
struct rex_entry {
    uintptr_t begin, end; /* both are 0 if the entry is free */
    /* device address of `begin`; 0: the driver cannot launch with this memory */
    uintptr_t device;
    const struct rex_range_lock *owner; /* the call that is making or ending the mapping, or NULL */
    bool is_gone;     /* the mapping has ended; the entry is removed when it has no user */
    bool is_loose;    /* the memory is loose (present.h), so only libomptarget launches with it */
    bool is_attached; /* a row has attached a pointer in this memory */
    /*
     * the mapping has an attached pointer, and still existed after an end call (target exit data)
     * that dropped the last reference known to librex. libomptarget keeps such a mapping if the row
     * of the end call is not a member of another row. rex_mappings_left() looks for mappings that
     * the program forgot to end, and does not count this mapping.
     */
    bool is_kept : 1;
    bool is_shown : 1;  /* the program has the device address (rex_present_show()) */
    uint32_t users;     /* number of shared calls at work on the entry */
    uint32_t updates;   /* number of users that are update calls (target update) */
    uint32_t attaching; /* number of users that attach or detach a pointer in the memory */
    /*
     * number of users whose `generation` (struct rex_range) is less than the entry's `generation`.
     * These users came before an end call began to wait for older users (awaits_older() in ends.c).
     */
    uint32_t older;
    uint32_t generation; /* a new user stores this number in its range; awaits_older() adds 1 */
    /*
     * number of ranges with `is_held` (struct rex_range) of end calls that wait. If `held` is not
     * 0, launches and update calls that use the entry wait.
     */
    uint32_t held;
    uint32_t awaited; /* number of ranges of end calls that wait until the users have left */
    uint64_t born;    /* serial number; newer entries have larger numbers */
    uint64_t launch;  /* number of the newest deferred launch that uses the entry */
    uint32_t refs;    /* libomptarget's reference count, or REX_REFS_UNKNOWN */
    /* number of references that an end call drops; set by count_taken() in ends.c */
    uint32_t taken;
    /* number of the next entry on each level of the skip list; 0: none */
    uint32_t next[REX_ENTRY_LEVELS];
};

/*
 * An entry occupies two cache lines. The first line has the members that a launch needs to pin the
 * entry.
 */
_Static_assert(sizeof(struct rex_entry) == 128, "entries are found by a shift");

/*
 * A skip list of entries in the array `entry`. `count` entries are in the list, and the array has
 * `room` elements. Element 0 is the head of the list.
 */
struct rex_entry_list {
    struct rex_entry *entry;
    size_t count, room;
    uint64_t made; /* number of entries ever added */
    uint32_t used; /* number of array elements ever used; 0: `entry` has no head yet */
    /*
     * number of the first free entry; 0: none. `next[0]` of a free entry is the number of the next.
     */
    uint32_t free;
    uint32_t levels; /* number of levels in use */
};

/*
 * Removes all entries. A fork may interrupt rex_entries_make_room() after `entry` points to a
 * larger array, but before `room` has the new size. The child then uses only the first `room`
 * elements.
 */
void rex_entries_reset(struct rex_entry_list *in);

/* Returns true if entry NUMBER has the byte at AT. NUMBER may be a wrong guess. */
static inline bool rex_entry_is_at(const struct rex_entry_list *in, uint32_t number, uintptr_t at)
{
    return number < in->used && in->entry[number].begin <= at && at < in->entry[number].end;
}

/* Returns the number of the last entry that ends at or before AT, or 0 if there is none. */
uint32_t rex_entries_before(const struct rex_entry_list *in, uintptr_t at);

/*
 * Returns the number of the first entry that ends after AT, or 0 if there is none. LAST is a guess,
 * such as an earlier result of this function. The function first tries entry LAST and the next
 * entry, because rows often come in the order of their addresses.
 */
uint32_t rex_entries_near(const struct rex_entry_list *in, uint32_t last, uintptr_t at);

/*
 * Returns entry NUMBER if NUMBER is not 0 and the entry begins before END. Otherwise returns NULL.
 */
static inline struct rex_entry *rex_entry_touching(const struct rex_entry_list *in, uint32_t number,
                                                   uintptr_t end)
{
    return number != 0 && in->entry[number].begin < end ? &in->entry[number] : NULL;
}

/* Returns the first entry that has a byte from BEGIN to END, or NULL if there is none. */
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
 * Makes room for COUNT more entries. Returns false if memory is short. Pointers to entries are
 * invalid afterwards.
 */
bool rex_entries_make_room(struct rex_entry_list *in, size_t count);

/*
 * Adds a copy of MADE. Call rex_entries_make_room() first. MADE must not overlap another entry,
 * except in a list of attached pointers.
 */
struct rex_entry *rex_entries_add(struct rex_entry_list *in, const struct rex_entry *made);

void rex_entries_take_out(struct rex_entry_list *in, struct rex_entry *entry);

#endif
