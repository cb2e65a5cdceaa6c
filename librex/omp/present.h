/*
 * present.h - the present table: what is mapped on each device, and which calls use it.
 *
 * libomptarget owns the mappings. librex keeps an index of those that it has seen begin, so that
 * the driver can launch on them. Each call that maps, ends, updates or uses memory says so here
 * before and after it: a data call or a launch by libomptarget enters and leaves, a launch by the
 * driver pins its rows and unpins them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PRESENT_H
#define REX_INTERNAL_PRESENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rex/map.h"

/* ---- calls of libomptarget ------------------------------------------------------------------- */

enum rex_present_call {
    REX_CALL_BY_DRIVER, /* a launch: it pins its rows instead */
    REX_CALL_LAUNCHES,
    REX_CALL_UPDATES,
    REX_CALL_BEGINS,
    REX_CALL_ENDS
};

/*
 * Before and after a call of libomptarget on DEVICE (-1: the default one) with the rows of MAP. The
 * call waits for launches by the driver that it must not meet, and none begins on its rows until it
 * leaves. An end takes the mappings that it may end out of the index, and what libomptarget still
 * has afterwards comes back. LATER: the call may not be over when it returns. A call of
 * libomptarget's inside of another one does neither. A map without all of its columns has no rows.
 *
 * An end waits for no queue: rex_before_unmap() or rex_unfinished_wait() (unfinished.h) is first.
 */
void rex_present_enter(enum rex_present_call call, const struct rex_map *map, int64_t device);
void rex_present_leave(enum rex_present_call call, const struct rex_map *map, int64_t device,
                       bool later);

/* ---- launches by the driver ------------------------------------------------------------------ */

/* Where SIZE bytes at BEGIN lie, all or some of them. */
struct rex_place {
    uintptr_t begin, end;
    uintptr_t device; /* where they begin there; 0: not in one mapping, or it is about to end */
    bool is_mapped;   /* some of them are */
    bool is_whole;    /* all of them are, in one mapping that no other call is about to end */
    bool is_changed;  /* if it is not mapped: the call copies it back */
    int32_t row;      /* of the call's map */
};

/* Memory that one launch, or one data call, works on until it ends. */
struct rex_claim {
    struct rex_claim *next;
    struct rex_place *place; /* COUNT of them; many are put in the order of their addresses */
    size_t count;
    uintptr_t lowest, highest; /* of all places; the claim's own, as is: */
    bool is_ordered;
    int number; /* of the device */
    enum rex_present_call call;
    bool is_all; /* its one place is all memory, and no mapping says what of it is mapped */
};

/*
 * From now on no data call begins that may change what is mapped of these places, nor a launch that
 * maps some of them for itself as this one does, if either copies it back. The device address of
 * each is filled in. Waits for calls that are at work. A reason against the driver that other
 * threads act on is seen by a look after this call.
 */
void rex_present_pin(struct rex_claim *claim);
void rex_present_unpin(struct rex_claim *claim);

/* ---- the index ------------------------------------------------------------------------------- */

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

/* Whether a mapping begins or ends inside of these bytes, which then are more than it. */
bool rex_mapping_divides(const void *begin, size_t size, int number);

/* Whether the caller, who has hidden it with one row, ends it for certain; it is *FOUND then. */
bool rex_mapping_is_ending(const void *begin, size_t size, int number, struct rex_mapping *found);

/*
 * A call has made COUNT mappings, which are in the order of their addresses and all on one device.
 * The array is not kept, but is changed.
 */
void rex_mappings_add(struct rex_mapping *made, size_t count);

/*
 * A call has just made a mapping of exactly SIZE bytes at BEGIN, and counts its rows afterwards. Of
 * such a mapping it is known whether a single row has begun it, and so whether an end is the last.
 */
void rex_mapping_made(const void *begin, size_t size, int number);

/*
 * How many regions' mappings there are, and the *FIRST, for the end of the process. 0 where another
 * thread has the lock: exit() may come from a signal's handler.
 */
size_t rex_mappings_left(struct rex_mapping *first);

/* ---- what is mapped -------------------------------------------------------------------------- */

/* What SIZE bytes at ADDRESS are on device NUMBER: by the index, else as libomptarget says. */
enum rex_presence { REX_ABSENT, REX_PRESENT_IN_PART, REX_PRESENT_WHOLE };
enum rex_presence rex_memory_presence(const void *address, size_t size, int number);

/* The same; where all of it is present, the device address is stored in *DEVICE. */
enum rex_presence rex_memory_find(const void *address, size_t size, int number, void **device);

/* The device address of what is present; NULL where it is not. */
void *rex_memory_address(const void *address, int number);

/* ---- what the index cannot know -------------------------------------------------------------- */

/*
 * The generation of the mappings: it changes after every call that may have ended one, if librex is
 * in the way of such calls (rex_forward_first()). A device address found in a generation is good as
 * long as that lasts.
 */
extern uint64_t rex_mapping_generation;

static inline uint64_t rex_mapping_now(void)
{
    return __atomic_load_n(&rex_mapping_generation, __ATOMIC_ACQUIRE);
}

/* Mappings may have ended in a call that has not entered. */
void rex_mapping_ended_unseen(void);

/*
 * Something may be mapped that no call has named, a module's globals, what a mapper names or a call
 * that does not wait, or that has left the index unasked. From then on libomptarget is asked for
 * what the index lacks.
 */
void rex_mapped_unseen(void);
bool rex_all_mappings_are_seen(void);

/*
 * Whether a call has attached a pointer to mapped memory: its bytes on the device are not the
 * host's.
 */
bool rex_pointers_are_attached(void);

#endif
