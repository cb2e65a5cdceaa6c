/*
 * presentcalls.h - calls of libomptarget enter the present table and leave it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PRESENTCALLS_H
#define REX_INTERNAL_PRESENTCALLS_H

#include "present/present.h"

/* The outcome of a call. */
enum rex_present_outcome {
    REX_LEFT_DONE,
    REX_LEFT_UNSURE, /* the call is unfinished, or has failed: its memory is loose */
    REX_LEFT_REFUSED /* libomptarget was not called */
};

/*
 * rex_present_enter() enters a call of libomptarget on device NUMBER with the rows of MAP, before
 * the call. MAP has all columns unless it has no rows. rex_present_leave() leaves after the call.
 * Entering waits for calls at work that exclude this one; a call inside another call does not wait.
 * Leaving updates the entries that the call has made or may have ended; memory of REX_LEFT_UNSURE
 * becomes loose. Log lines between the two reach the program's function afterwards, because it may
 * launch.
 *
 * Returns the ranges of the rows, valid until the call leaves; NULL if nothing is known.
 *
 * An end does not wait for queues here: call rex_before_unmap() or rex_unfinished_wait()
 * (unfinished.h) first.
 */
const struct rex_range_lock *rex_present_enter(enum rex_present_call call,
                                               const struct rex_map *map, int number);
void rex_present_leave(enum rex_present_call call, const struct rex_map *map, int number,
                       enum rex_present_outcome how);

/*
 * Returns true if this thread is inside such a call. A mapper or a function for the log may launch
 * there; a launch by the driver would wait for its own thread.
 */
bool rex_present_is_entered(void);

/*
 * Returns true if a call may have attached a pointer in memory that the table does not know: only
 * libomptarget sees the rows of a mapper. The pointer's bytes on the device differ from the host's.
 */
bool rex_pointers_are_attached(void);

/*
 * Returns true if a call may have mapped a row that does not contain its base address. Such a row
 * is a section that does not start at the array's begin, or comes from a mapper. LLVM 15 and later
 * also find such a mapping by addresses between base and row.
 */
bool rex_bases_are_apart(void);

#endif
