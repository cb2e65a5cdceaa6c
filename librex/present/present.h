/*
 * present.h - the present table: the mappings on each device, and the calls that use them.
 *
 * A begin call is a data call that maps memory (target enter data). An end call drops references to
 * mappings (target exit data). An update call copies mapped memory (target update). Memory without
 * a mapping is absent.
 *
 * libomptarget owns the mappings. librex keeps an index of the mappings whose begin calls it has
 * seen, so that the driver can launch with these mappings. Each mapping in the index is an entry
 * (entries.h). A call that uses a mapping, and does not make or end the mapping, is a user of the
 * entry.
 *
 * A data call and a launch by libomptarget enter the table before they begin, and leave the table
 * after they end. A launch by the driver pins its rows before it begins, and unpins them after it
 * ends. A data call or a launch by libomptarget is at work while the call is in the table. A launch
 * by the driver is at work while its rows are pinned. Two calls exclude each other if the later
 * call has to wait until the earlier call is no longer at work.
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

/* ---- kinds of calls -------------------------------------------------------------------------- */

enum rex_present_call {
    REX_CALL_BY_DRIVER, /* a launch by the driver; it pins its rows, and does not enter the table */
    /*
     * an update call (target update): the driver can copy every row. In a begin call or end call,
     * the driver copies a row only if the call makes or ends the mapping of the row.
     */
    REX_CALL_UPDATES,
    REX_CALL_LAUNCHES,
    REX_CALL_BEGINS,
    REX_CALL_ENDS
};

/* ---- launches by the driver ------------------------------------------------------------------ */

/*
 * Number of references that a row adds in a begin call (target enter data), or drops in an end call
 * (target exit data).
 */
enum rex_counts { REX_COUNTS_NONE, REX_COUNTS_ONE, REX_COUNTS_UNKNOWN };

/*
 * Returns the end of SIZE bytes at BEGIN, or of one byte if SIZE is 0. The end is UINTPTR_MAX if
 * the bytes reach past the end of the address space.
 */
static inline uintptr_t rex_end_of(const void *begin, size_t size)
{
    uintptr_t at = (uintptr_t)begin, end = at + (size > 0 ? size : 1);
    return end > at ? end : UINTPTR_MAX;
}

/* Host memory that a call uses, from `begin` to `end`, and how it is mapped. */
struct rex_range {
    uintptr_t begin, end;
    uintptr_t device; /* device address of `begin`; 0 if unknown */
    /*
     * 0: the call is not an end call, or does not wait for users of the range. Otherwise the end
     * call has added 1 to `awaited` of those entries of the range that have a `born` less than
     * `marked`.
     */
    uint64_t marked;
    /*
     * number (entries.h) of the first entry that touches the range. The number is only a guess if
     * `is_shared` is false, or if the call is an end call (target exit data).
     */
    uint32_t at;
    int32_t row;         /* row of the call's map */
    uint32_t generation; /* `generation` of the entry when the call became a user */
    /*
     * used if an end call no longer drops the last reference, because a newer begin call has added
     * a reference (awaits_older()). The end call then still waits for users whose `generation` is
     * less than this number. 0: no such wait.
     */
    uint32_t awaits;
    enum rex_counts counts;
    /* if the call makes the mapping, the call copies the memory back, as for map(from: ...) */
    bool is_changed;
    /* The next flags are adjacent, because a launch often sets them together. */
    bool is_mapped; /* some bytes are mapped */
    bool is_in_one; /* one settled mapping (mappings.h) has all bytes */
    /* one mapping has all bytes, and no other call may end it during this call */
    bool is_whole;
    bool is_shared;     /* the call is a user of the mapping */
    bool is_loose;      /* some bytes are loose (defined at the end of this file) */
    bool is_attached;   /* some mapping of these bytes has an attached pointer */
    bool is_empty : 1;  /* the row has size 0; the range then has one byte */
    bool is_new : 1;    /* the call makes the mapping */
    bool attaches : 1;  /* the range is a pointer that the call attaches */
    bool shows : 1;     /* the call returns the device address to the program */
    bool needs_all : 1; /* an end call waits until no other call uses this memory */
    bool is_held : 1;   /* launches and update calls on this memory wait for the call */
    bool is_used : 1;   /* `needs_all` is true, and other calls use the memory */
    bool was_used : 1;  /* `is_used` was true at a check while the end call waited */
};

/* A launch reads a range for each mapped row, so a range has the size of a cache line. */
_Static_assert(sizeof(struct rex_range) == 64, "a range fits a line of the cache");

/*
 * The wait of one call. While a call waits, it is not a user or owner of memory.
 *
 * To prevent starvation of a begin call or end call that waits, launches and update calls wait for
 * that call. But launches and update calls wait only in windows of 10 ms, 20 ms, 40 ms and so on.
 * After each window comes an open time of equal length. In an open time, launches and update calls
 * do not wait for that begin call or end call. Open times prevent a deadlock: an end call waits for
 * a kernel, the kernel waits for a thread, and the thread waits to launch.
 */
struct rex_table_wait {
    const void *begin; /* first memory that the call uses, for the log */
    size_t size;
    int number; /* number of the device */
    enum rex_present_call call;
    struct timespec since;
    uint64_t changes; /* `changes` of the table when librex found that the call must wait */
    int64_t until;    /* end of the current window or open time, in milliseconds after `since` */
    bool is_open;     /* true in an open time, false in a window */
    bool is_told;     /* the log has a warning about this wait */
};

/* The ranges of one launch or one data call. The call uses them until it ends. */
struct rex_range_lock {
    struct rex_range_lock *next;
    struct rex_range *range; /* array of `count` ranges, sorted by address if there are many */
    size_t count;
    size_t known; /* number of ranges with entries */
    /* number of rows that are values or private memory; members of other rows are not counted */
    int32_t values;
    int64_t types; /* all type bits of the mapped rows */
    int number;    /* number of the device */
    enum rex_present_call call;
    bool is_all; /* the rows are unknown, so the only range is the whole address space */
    /*
     * set by rex_present_pin(). is_ordered: the ranges are in the order of their addresses.
     * is_listed: the call is in the list `at_work` (mappings.h).
     */
    bool is_ordered, is_listed;
    bool is_alone;   /* `at_work` had no other call when this call was pinned */
    bool is_waiting; /* the call has to wait */
    /* set by rex_present_enter(): a mapping that has no entry overlaps a range with `is_new` */
    bool is_unseen;
    /* libomptarget was not called, so rex_present_unpin() adds no references for a begin call */
    bool is_refused;
    uint64_t launch; /* number of a deferred launch; 0: not deferred */
    bool is_shown; /* the program has a device address of the memory; set by rex_present_unpin() */
    /* used during the wait, under the lock of the table: */
    const struct rex_range_lock *met; /* the call at work for which this call waits, or NULL */
    struct rex_table_wait wait;
};

/*
 * rex_present_pin() pins the ranges of a call, and fills in their device addresses. It waits for
 * calls at work that exclude this call. Example: two launches map the same absent array. The later
 * launch waits if at least one of the two is by the driver, and at least one copies the array back.
 * Until rex_present_unpin(), no data call begins that may change how the ranges are mapped.
 *
 * Call rex_process_reasons() again after rex_present_pin(): a call for which rex_present_pin() has
 * waited may have added a fallback reason.
 *
 * A launch by the driver does not wait in this function, because its thread is inside the gate and
 * has a launch context. If the launch has to wait, nothing is pinned, and `is_waiting` is true. In
 * this case the caller must leave the gate, give the launch context back, call rex_present_wait(),
 * and begin again.
 *
 * Returns fallback reasons if a launch by the driver has to wait, and could wait for ever. Nothing
 * is then pinned. Otherwise returns 0. The fallback reasons are:
 * - REX_REASON_NESTED: the thread of the launch is inside another call. The launch might wait for
 *   this call of its own thread.
 * - REX_REASON_BESIDE: the launch would wait for a launch by libomptarget that uses the memory.
 */
unsigned rex_present_pin(struct rex_range_lock *ranges);
void rex_present_unpin(struct rex_range_lock *ranges);

/*
 * Tries to pin the rows of MAP for a launch by the driver. This can succeed only if each row is a
 * value or lies in one settled mapping (mappings.h), and no call excludes the launch. On success,
 * fills the ranges, writes the device address of each mapped row to DEVICE, and returns true.
 * Otherwise pins nothing and returns false. If the result is false, the caller fills the ranges
 * itself and calls rex_present_pin().
 */
bool rex_present_pin_rows(struct rex_range_lock *launch, const struct rex_map *map,
                          uintptr_t *device);

/*
 * Call this if the program gets the device address of ADDRESS. After this call, wait for the
 * deferred launches. If a mapping has ADDRESS, marks the mapping as shown. The program can then
 * read the memory without a call to librex, so each later launch with this mapping waits for its
 * kernel.
 */
void rex_present_show(const void *address, int number);

/*
 * Waits until another call changes the table, but at most until `until` of WAIT. Returns at once if
 * the table has changed since the caller looked at it. After this function, the caller checks again
 * if its call has to wait.
 */
void rex_present_wait(struct rex_table_wait *wait);

/*
 * LAUNCH is a launch by the driver. Returns true if an end call (target exit data) in another
 * thread waits for LAUNCH because of a mapped row of LAUNCH with REX_MAP_FROM. If the result is
 * true, the caller copies back all mapped rows of LAUNCH that have REX_MAP_FROM. Call this function
 * after rex_present_pin(), and before rex_present_unpin().
 *
 * With libomptarget alone, the end call would not wait for the launch. The launch would then drop
 * the last reference to the mapping, and would copy the row back.
 */
bool rex_present_is_awaited(const struct rex_range_lock *launch);

/* ---- the index ------------------------------------------------------------------------------- */

/*
 * One mapping, from its first byte to its last. If librex does not see all calls to libomptarget
 * (rex_forward_first()), the index is empty. In any other case the index may still lack mappings
 * (rex_mapped_unseen()).
 */
struct rex_mapping {
    uintptr_t begin, end;
    uintptr_t device; /* device address of `begin`; 0: the driver cannot launch with this memory */
    /*
     * only libomptarget copies this memory, because it contains an attached pointer: the pointer's
     * value differs on the device
     */
    bool is_attached;
};

/*
 * Finds the mapping on device NUMBER that has all SIZE bytes at BEGIN. Ignores a mapping if the
 * call that made it has not returned, or if a call that may end it has begun. Returns false if no
 * mapping is found.
 */
bool rex_mapping_find(const void *begin, size_t size, int number, struct rex_mapping *found);

/*
 * Finds the first mapping on device NUMBER that has one of SIZE bytes at BEGIN. A call may be
 * making or ending this mapping, or the memory may be loose. Returns false if there is no such
 * mapping.
 */
bool rex_mapping_find_any(const void *begin, size_t size, int number, struct rex_mapping *found);

/*
 * Finds the first attached pointer that has a byte from BEGIN to END, and sets *ADDRESS to its
 * address. Returns false if there is no such pointer. The table lacks pointers that a mapper
 * attaches, and pointers of calls that do not enter the table.
 */
bool rex_attached_find(uintptr_t begin, uintptr_t end, int number, uintptr_t *address);

/*
 * Call this in a begin call (target enter data), after rex_present_enter(). Returns true if the
 * begin call makes a mapping of exactly SIZE bytes at BEGIN, to which no other row or call adds a
 * reference.
 */
bool rex_mapping_is_new(const void *begin, size_t size, int number);

/*
 * Call this in an end call (target exit data), after rex_present_enter(). Returns true if the end
 * call certainly ends a mapping of exactly SIZE bytes at BEGIN.
 */
bool rex_mapping_is_ending(const void *begin, size_t size, int number, struct rex_mapping *found);

/*
 * Returns the number of mappings that the program has not ended, for a warning at the end of the
 * process. *FIRST is the first such mapping, and *NUMBER its device. Skips a device whose table is
 * locked: a signal handler may have called exit() while its thread had locked the table.
 */
size_t rex_mappings_left(struct rex_mapping *first, int *number);

/* ---- mappings that the index lacks ----------------------------------------------------------- */

/*
 * The generation of the mappings. If librex sees all calls that may end a mapping
 * (rex_forward_first()), the generation changes after each such call. A device address from a
 * look-up is valid only until the generation changes.
 */
extern uint64_t rex_mapping_generation; /* atomic */

/*
 * Memory is loose if libomptarget may still copy the memory, or drop references to it, after a call
 * has returned. A call leaves its memory loose if the call has failed, or may be unfinished when it
 * returns (nowait). Only libomptarget makes launches with loose memory, and copies of loose memory.
 * The memory stays loose until a begin call, or a launch by libomptarget, finds the memory absent.
 */

/*
 * Call this after a call that has not entered the table (rex_present_enter()), and may have ended
 * mappings. Marks the entries of all devices, except loose entries, as gone. Changes
 * rex_mapping_generation.
 */
void rex_mapping_ended_unseen(void);

/*
 * Call rex_mapped_unseen() if the index may lack memory that is mapped. After this call, librex
 * asks libomptarget about memory that the index lacks, and rex_all_mappings_are_seen() returns
 * false. The index may lack:
 * - a global of a module,
 * - memory that a mapper or a nowait call maps,
 * - a mapping that was removed from the index, although it may exist.
 */
void rex_mapped_unseen(void);
bool rex_all_mappings_are_seen(void);

#endif
