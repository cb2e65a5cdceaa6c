/*
 * mappings.h - the index of mappings: what data calls have mapped, from where to where.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MAPPINGS_H
#define REX_INTERNAL_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One mapping, from its first byte to its last: its data call has returned, and none that may end
 * it has begun. What was mapped by a call that librex does not look at is in no index; where librex
 * is not in the way of all calls (rex_forward_first()), the index is empty.
 */
struct rex_mapping {
    uintptr_t begin, end;
    int number;       /* of the device */
    uintptr_t device; /* where it begins there; 0 where no launch goes by the driver */
};

/* The mapping that has all of SIZE bytes at BEGIN on device NUMBER, in *FOUND; or false. */
bool rex_mapping_find(const void *begin, size_t size, int number, struct rex_mapping *found);

/* The first mapping that has any byte of WANTED, in *FOUND; or false. */
bool rex_mapping_find_any(const struct rex_mapping *wanted, struct rex_mapping *found);

/*
 * A call has just made a mapping of exactly SIZE bytes at BEGIN, and counts its rows afterwards. Of
 * such a mapping it is known whether a single row has begun it, and so whether an end is the last.
 */
void rex_mapping_made(const void *begin, size_t size, int number);

/* A row begins what it touches. True: one mapping has all of it. */
bool rex_mapping_begun(const void *begin, size_t size, int number);

/* Whether the caller, who has hidden it with one row, ends it for certain; it is *FOUND then. */
bool rex_mapping_is_ending(const void *begin, size_t size, int number, struct rex_mapping *found);

/* Whether a mapping begins or ends inside of these bytes, which then are more than it. */
bool rex_mapping_divides(const void *begin, size_t size, int number);

/* Where SIZE bytes at BEGIN lie, all or some of them. */
struct rex_place {
    uintptr_t begin, end;
    uintptr_t device; /* where they begin there; 0: not in one mapping, or it is about to end */
    bool is_mapped;   /* some of them are */
    bool is_whole;    /* all of them are, in one mapping that no other call is about to end */
    bool is_changed;  /* if it is not mapped: the call copies it back */
    int32_t row;      /* of the call's map */
};
/* COUNT of them, on device NUMBER: how each PLACE is mapped is filled in. */
void rex_mappings_place(struct rex_place *place, size_t count, int number);

/* PLACE becomes as large as the mappings of device NUMBER that it touches. */
void rex_mappings_widen(struct rex_place *place, int number);

/*
 * A call has made COUNT mappings, which are in the order of their addresses and all on one device.
 * The array is not kept, but is changed.
 */
void rex_mappings_add(struct rex_mapping *made, size_t count);

/*
 * How many regions' mappings there are, and the *FIRST, for the end of the process. 0 where another
 * thread has the lock: exit() may come from a signal's handler.
 */
size_t rex_mappings_left(struct rex_mapping *first);

#endif
