/*
 * present.h - the present table: the mappings on each device, and the calls that use them.
 *
 * libomptarget owns the mappings. librex keeps an index of those whose begin it has seen, so that
 * the driver can launch on them. A data call and a launch by libomptarget enter the table before
 * they begin, and leave it after they end. A launch by the driver pins its rows before it begins,
 * and unpins them afterwards.
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
    REX_CALL_BY_DRIVER, /* a launch; pins its rows and does not enter */
    REX_CALL_UPDATES, /* the driver may copy for an update, but does nothing for the calls below */
    REX_CALL_LAUNCHES,
    REX_CALL_BEGINS,
    REX_CALL_ENDS
};

/* ---- launches by the driver ------------------------------------------------------------------ */

/* The references that a row takes or gives back. */
enum rex_counts { REX_COUNTS_NONE, REX_COUNTS_ONE, REX_COUNTS_UNKNOWN };

/*
 * Returns the end of memory at BEGIN, of at least one byte. A row may reach past the end of the
 * address space.
 */
static inline uintptr_t rex_end_of(const void *begin, size_t size)
{
    uintptr_t at = (uintptr_t)begin, end = at + (size > 0 ? size : 1);
    return end > at ? end : UINTPTR_MAX;
}

/* Host memory from `begin` to `end` that a call uses, and how it is mapped. */
struct rex_range {
    uintptr_t begin, end;
    uintptr_t device;    /* device address of `begin`; 0 if not in one mapping, or if it may end */
    uint64_t marked;     /* an end waits for users of entries born before it; 0: no wait */
    uint32_t at;         /* number of the first entry; a guess unless the call is its user */
    int32_t row;         /* row of the call's map */
    uint32_t generation; /* generation of the entry when the call became a user */
    uint32_t awaits;     /* an end waits for users before this generation; 0: no wait */
    enum rex_counts counts;
    bool is_changed; /* the call copies absent memory back */
    /* Adjacent, because a row of a launch often gets all four at once: */
    bool is_mapped;     /* some bytes are mapped */
    bool is_in_one;     /* one settled mapping has all bytes; the call itself may end it */
    bool is_whole;      /* one mapping has all bytes, and no other call may end it */
    bool is_shared;     /* the call is a user of the mapping */
    bool is_loose;      /* some bytes are loose */
    bool is_attached;   /* the mappings have attached pointers */
    bool is_empty : 1;  /* the row has no length, and the range has one byte */
    bool is_new : 1;    /* the call makes the mapping */
    bool attaches : 1;  /* the range is a pointer that the call attaches */
    bool shows : 1;     /* the call returns the device address to the program */
    bool needs_all : 1; /* the call is an end that needs the mapping for itself */
    bool is_held : 1;   /* the mark keeps launches and updates waiting */
    bool is_used : 1;   /* other calls use memory that the end needs for itself */
    bool was_used : 1;  /* other calls have used it while the end waited */
};

/* A launch has a range for each row. */
_Static_assert(sizeof(struct rex_range) == 64, "a range fits a line of the cache");

/*
 * The wait of one call. A call that waits holds no memory. To prevent starvation, launches and
 * updates that meet a waiting call wait, too, in windows that double. Between two windows they go
 * on, because the calls that hold the memory may wait for them.
 */
struct rex_table_wait {
    const void *begin; /* first bytes that the call uses, for the log */
    size_t size;
    int number; /* number of the device */
    enum rex_present_call call;
    struct timespec since;
    uint64_t changes; /* `changes` of the table when the call looked */
    int64_t until;    /* end of the window, in milliseconds after `since` */
    bool is_open;     /* the time is between two windows */
    bool is_told;
};

/* The memory that one launch or one data call uses until it ends. */
struct rex_range_lock {
    struct rex_range_lock *next;
    struct rex_range *range; /* array of COUNT ranges, sorted by address if there are many */
    size_t count;
    size_t known;   /* ranges that have entries */
    int32_t values; /* rows that are values or private and no members: they have no range */
    int64_t types;  /* type bits of all mapped rows together */
    int number;     /* number of the device */
    enum rex_present_call call;
    bool is_all; /* the only range is all memory, because the ranges are unknown */
    /* set by rex_present_pin(): */
    bool is_ordered, is_listed;
    bool is_alone;   /* no call at work uses memory without an entry */
    bool is_waiting; /* the call has to wait */
    bool is_unseen;  /* libomptarget had mapped some of its new ranges before */
    bool is_refused; /* the begin was not made: its new entries leave the table */
    uint64_t launch; /* number of a deferred launch; else 0 */
    bool is_shown;   /* set by rex_present_unpin(): the program has an address of its memory */
    /* During the wait, under the table's lock: */
    const struct rex_range_lock *met; /* call at work that this call waits for, or NULL */
    struct rex_table_wait wait;
};

/*
 * Lock the ranges of a call and fill in their device addresses. rex_present_pin() waits for calls
 * at work that exclude this one. Until the call is unpinned, no data call begins that may change
 * how the ranges are mapped. No launch begins that maps some of the ranges for itself as this one
 * does, if either copies them back. Read the fallback reasons after this call, to see every reason
 * that other threads act on.
 *
 * A launch by the driver does not wait here, because its thread is in the gate and has a launch
 * context. If it had to wait, `is_waiting` is set and nothing is pinned. Then leave the gate, give
 * the context back, call rex_present_wait(), and begin again.
 *
 * Returns 0, or the fallback reasons of a launch by the driver, with nothing pinned.
 * REX_REASON_NESTED: the thread is inside a call of its own, which the launch could wait for.
 * REX_REASON_BESIDE: a launch by libomptarget uses the memory.
 */
unsigned rex_present_pin(struct rex_range_lock *ranges);
void rex_present_unpin(struct rex_range_lock *ranges);

/*
 * Pins the rows of MAP for a launch by the driver, if each is a value or in one settled mapping, and
 * no call excludes the launch. Then fills the ranges, and writes the device address of each mapped
 * row to DEVICE. Otherwise pins nothing and returns false: fill the ranges, and call
 * rex_present_pin().
 */
bool rex_present_pin_rows(struct rex_range_lock *launch, const struct rex_map *map,
                          uintptr_t *device);

/*
 * Marks the mapping that has ADDRESS, if any, as shown: the program gets its device address, and
 * may read the memory without a call of librex. So launches on the mapping are waited for until it
 * ends. Wait for the deferred launches after this call.
 */
void rex_present_show(const void *address, int number);

/* Waits until a call leaves the table, or until the end of the window. */
void rex_present_wait(struct rex_table_wait *wait);

/*
 * Returns true if an end that may be the last waits for a row that the launch copies back. If
 * libomptarget launched, the launch would hold the last reference then, and its end would copy.
 * Call it between rex_present_pin() and rex_present_unpin().
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
    uintptr_t device; /* device address of `begin`; 0 if only libomptarget launches on it */
    bool is_attached; /* pointers in it differ on the device, so only libomptarget copies */
};

/*
 * Finds the mapping that has all SIZE bytes at BEGIN on device NUMBER. Returns false if there is
 * none.
 */
bool rex_mapping_find(const void *begin, size_t size, int number, struct rex_mapping *found);

/* Finds the first mapping that has any of these bytes. Returns false if there is none. */
bool rex_mapping_find_any(const void *begin, size_t size, int number, struct rex_mapping *found);

/*
 * Finds the first attached pointer that has a byte from BEGIN to END. Returns false if there is
 * none. Pointers of mappers and of raw calls that do not enter are unknown.
 */
bool rex_attached_find(uintptr_t begin, uintptr_t end, int number, uintptr_t *address);

/*
 * Returns true if the caller's begin, which has entered, makes exactly this mapping, and no other
 * row or call counts it.
 */
bool rex_mapping_is_new(const void *begin, size_t size, int number);

/* Returns true if the caller's end, which has entered, certainly ends exactly this mapping. */
bool rex_mapping_is_ending(const void *begin, size_t size, int number, struct rex_mapping *found);

/*
 * Returns the number of mappings that regions have left, and the *FIRST on device *NUMBER, for the
 * end of the process. Skips a device whose lock another thread holds, because a signal handler may
 * call exit().
 */
size_t rex_mappings_left(struct rex_mapping *first, int *number);

/* ---- mappings that the index lacks ----------------------------------------------------------- */

/*
 * The generation of the mappings. It changes after every call that may have ended one, if librex
 * sees all such calls (rex_forward_first()). A device address is valid only in the generation in
 * which it was found.
 */
extern uint64_t rex_mapping_generation; /* atomic */

/*
 * Memory is loose after a call with it that is not waited for, or has failed: libomptarget may
 * still copy there, or drop references. Only libomptarget launches and copies there, until a begin
 * or a launch by libomptarget finds the memory absent.
 */

/* Call after mappings may have ended in a call that has not entered. */
void rex_mapping_ended_unseen(void);

/*
 * Call if something may be mapped that the index lacks: a module's global, memory that a mapper or
 * a nowait call maps, or a mapping removed from the index although it may exist. From then on
 * libomptarget is asked for memory that the index lacks.
 */
void rex_mapped_unseen(void);
bool rex_all_mappings_are_seen(void);

#endif
