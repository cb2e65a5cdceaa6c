/*
 * present.h - the present table: the mappings on each device, and the calls that use them.
 *
 * libomptarget owns the mappings. librex keeps an index of those that it has seen begin, so that
 * the driver can launch on them. A data call and a launch by libomptarget enter the table before
 * and leave it after. A launch by the driver pins its rows before and unpins them after.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PRESENT_H
#define REX_INTERNAL_PRESENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "rex/map.h"

/* ---- calls of libomptarget ------------------------------------------------------------------- */

enum rex_present_call {
    REX_CALL_BY_DRIVER, /* a launch; it pins its rows and does not enter */
    REX_CALL_UPDATES,   /* the driver may copy for it; it uses the driver for none below */
    REX_CALL_LAUNCHES,
    REX_CALL_BEGINS,
    REX_CALL_ENDS
};

/* ---- launches by the driver ------------------------------------------------------------------ */

/* The references that a row takes or gives back. */
enum rex_counts { REX_COUNTS_NONE, REX_COUNTS_ONE, REX_COUNTS_UNKNOWN };

/*
 * The end of memory at BEGIN, at least a byte. A row may reach past the end of the address space.
 */
static inline uintptr_t rex_end_of(const void *begin, size_t size)
{
    uintptr_t at = (uintptr_t)begin, end = at + (size > 0 ? size : 1);
    return end > at ? end : UINTPTR_MAX;
}

/* Host memory from `begin` to `end` that a call uses, and how it is mapped. */
struct rex_range {
    uintptr_t begin, end;
    uintptr_t device; /* the device address of `begin`; 0: no one mapping, or it may end */
    uint64_t marked;  /* an end waits for the users of entries born before; 0: it does not wait */
    uint32_t at;      /* the number of its first entry; a guess unless the call is its user */
    int32_t row;      /* the row of the call's map */
    uint32_t generation; /* of the entry, when the call became a user */
    uint32_t awaits;     /* an end waits for the users before this generation; 0: it does not */
    enum rex_counts counts;
    /* side by side, because a row of a launch mostly gets all four at once: */
    bool is_mapped;     /* some bytes are mapped */
    bool is_in_one;     /* one settled mapping has all bytes; the call may be about to end it */
    bool is_whole;      /* one mapping has all bytes, and no other call is about to end it */
    bool is_shared;     /* the call is a user of the mapping */
    bool is_loose;      /* some bytes are loose */
    bool is_attached;   /* the mappings have attached pointers */
    bool is_changed;    /* the call copies the memory back if it is not mapped */
    bool is_empty : 1;  /* the row has no length, and the range one byte */
    bool is_new : 1;    /* the call makes the mapping */
    bool attaches : 1;  /* the range is a pointer that the call attaches */
    bool shows : 1;     /* the call gives out the device address */
    bool needs_all : 1; /* the call, an end, has to have the mapping for itself */
    bool is_held : 1;   /* the mark keeps launches and updates waiting */
    bool is_used : 1;   /* other calls use what the end has to have for itself */
    bool was_used : 1;  /* so it has been while the end waited */
};

/* A launch has one for each row. */
_Static_assert(sizeof(struct rex_range) == 64, "a range fits a line of the cache");

/*
 * The wait of one call. A call that waits holds nothing. Its precedence is against starvation
 * alone: launches and updates that meet only waiting calls wait, too, in windows that double. In
 * between they go on, because what the call waits for may wait for them.
 */
struct rex_table_wait {
    const void *begin; /* the first bytes that the call uses, for the log */
    size_t size;
    int number; /* of the device */
    enum rex_present_call call;
    struct timespec since;
    uint64_t changes; /* the table's, when the call looked */
    int64_t until;    /* milliseconds after `since`: the end of the window */
    bool is_open;     /* between two windows */
    bool is_told;
};

/* The memory that one launch or one data call uses until it ends. */
struct rex_range_lock {
    struct rex_range_lock *next;
    struct rex_range *range; /* COUNT of them; many are sorted by their addresses */
    size_t count;
    size_t known;   /* ranges that have entries */
    int32_t values; /* rows that are values or private, and members of nothing: they have none */
    int64_t types;  /* the type bits of all its mapped rows */
    int number;     /* of the device */
    enum rex_present_call call;
    bool is_all; /* its one range is all memory, because its ranges are unknown */
    /* set by rex_present_pin(): */
    bool is_ordered, is_listed;
    bool is_alone;   /* no call at work uses memory without an entry */
    bool is_waiting; /* it has to wait, or a data call waits */
    bool is_unseen;  /* libomptarget has mapped some of its new ranges before */
    bool is_refused; /* a begin that is not made: its new entries go */
    uint64_t launch; /* of a deferred launch, its number; else 0 */
    bool is_shown;   /* set by rex_present_unpin(): some of its memory is shown */
    /* while it waits, under the table's lock: */
    const struct rex_range_lock *met; /* a call at work that it meets, or NULL */
    struct rex_table_wait wait;
};

/*
 * Lock the ranges of a call and fill in their device addresses. Waits for calls at work that
 * exclude this one. Until they are unpinned no data call begins that may change how the ranges
 * are mapped. No launch begins that maps some of them for itself, as this one does, if either
 * copies them back. Read the fallback reasons after this call: then a reason that other threads act
 * on is seen.
 *
 * A launch by the driver does not wait here, because its thread is in the gate and has a launch
 * context. If it would have to, `is_waiting` is set and nothing is pinned: give both back, call
 * rex_present_wait(), and begin again.
 *
 * Returns 0, or fallback reasons of a launch by the driver: REX_REASON_NESTED inside of a call of
 * its own thread, which it could wait for, REX_REASON_BESIDE if a launch by libomptarget uses the
 * memory. Then nothing is pinned.
 */
unsigned rex_present_pin(struct rex_range_lock *ranges);
void rex_present_unpin(struct rex_range_lock *ranges);

/*
 * The program gets the device address of the mapping that has ADDRESS, if any. The mapping is shown
 * until it ends: its launches are waited for, because the program may look at the memory without a
 * call of librex. Wait for the deferred launches after this call.
 */
void rex_present_show(const void *address, int number);

/* Waits until a call leaves the table, or until the next window. */
void rex_present_wait(struct rex_table_wait *wait);

/*
 * Whether an end that may be the last waits for a row that the launch copies back. By libomptarget
 * the launch would hold the last reference then, and its end would copy. Called between
 * rex_present_pin() and rex_present_unpin().
 */
bool rex_present_is_awaited(const struct rex_range_lock *launch);

/* ---- the index ------------------------------------------------------------------------------- */

/*
 * One mapping, from its first byte to its last. Its data call has returned, and no call that may
 * end it has begun. A mapping by a call that librex does not see is not in the index. If librex
 * does not see all calls (rex_forward_first()), the index is empty.
 */
struct rex_mapping {
    uintptr_t begin, end;
    uintptr_t device; /* the device address of `begin`; 0 if no launch goes by the driver */
    bool is_attached; /* it has pointers that differ on the device: only libomptarget copies */
};

/* Finds the mapping that has all SIZE bytes at BEGIN on device NUMBER; false if there is none. */
bool rex_mapping_find(const void *begin, size_t size, int number, struct rex_mapping *found);

/* Finds the first mapping that has any of these bytes; false if there is none. */
bool rex_mapping_find_any(const void *begin, size_t size, int number, struct rex_mapping *found);

/*
 * Finds the first attached pointer that has a byte from BEGIN to END; false: there is none. Those
 * of mappers and of raw calls that do not enter are unknown.
 */
bool rex_attached_find(uintptr_t begin, uintptr_t end, int number, uintptr_t *address);

/*
 * Whether the caller's begin, which has entered, makes exactly this mapping, and no other row or
 * call counts it.
 */
bool rex_mapping_is_new(const void *begin, size_t size, int number);

/* Whether the caller's end, which has entered, ends exactly this mapping for certain. */
bool rex_mapping_is_ending(const void *begin, size_t size, int number, struct rex_mapping *found);

/*
 * The number of mappings that regions have left, and the *FIRST on device *NUMBER, for the end of
 * the process. A device whose lock another thread has is left out, because exit() may be called by
 * a signal handler.
 */
size_t rex_mappings_left(struct rex_mapping *first, int *number);

/* ---- mappings that the index lacks ----------------------------------------------------------- */

/*
 * The generation of the mappings. It changes after every call that may have ended one, if librex
 * sees all such calls (rex_forward_first()). A device address is valid in the generation in which
 * it was found.
 */
extern uint64_t rex_mapping_generation; /* atomic */

/*
 * Memory is loose after a call with it that is not waited for, or has failed: libomptarget may
 * still copy there, or drop references. Only libomptarget launches and copies there, until a begin
 * or a launch of its own finds the memory absent.
 */

/* Mappings may have ended in a call that has not entered. */
void rex_mapping_ended_unseen(void);

/*
 * Something may be mapped that the index lacks. It is a module's global, memory that a mapper or a
 * nowait call maps, or a mapping removed from the index without a question. From then on
 * libomptarget is asked for memory that the index lacks.
 */
void rex_mapped_unseen(void);
bool rex_all_mappings_are_seen(void);

#endif
