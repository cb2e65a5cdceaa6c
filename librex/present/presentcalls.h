/*
 * presentcalls.h - calls of libomptarget enter the present table before they begin, and leave it
 * after they end.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PRESENTCALLS_H
#define REX_INTERNAL_PRESENTCALLS_H

#include "present/present.h"

/* The outcome of a call, for the entries of its rows. */
enum rex_present_outcome {
    REX_LEFT_DONE,
    REX_LEFT_UNSURE, /* the call is unfinished or has failed, so its memory is loose (present.h) */
    REX_LEFT_REFUSED /* libomptarget was not called */
};

/*
 * Call rex_present_enter() before a call of libomptarget on device NUMBER with the rows of MAP, and
 * rex_present_leave() after the call. If MAP has rows, no column of MAP may be NULL.
 *
 * rex_present_enter() waits for other calls at work (present.h) that must not run together with
 * this call. If this call is nested in another call, rex_present_enter() does not wait.
 * rex_present_leave() updates the entries of mappings that the call has made or may have ended.
 * With REX_LEFT_UNSURE, the memory of the call becomes loose. Between the two functions, librex
 * does not call the log function of the program, because that function may launch. librex stores
 * the log lines for that function until rex_present_leave().
 *
 * rex_present_enter() does not wait for queues. Before an end call (target exit data), first call
 * rex_before_unmap() or rex_unfinished_wait() (unfinished.h).
 *
 * rex_present_enter() returns the ranges of the rows. The ranges are valid until
 * rex_present_leave(). rex_present_enter() returns NULL if the call does not enter the table, for
 * example if the call is nested.
 */
const struct rex_range_lock *rex_present_enter(enum rex_present_call call,
                                               const struct rex_map *map, int number);
void rex_present_leave(enum rex_present_call call, const struct rex_map *map, int number,
                       enum rex_present_outcome how);

/*
 * Returns true if this thread is inside a call that has entered the table. A mapper or a log
 * function may launch inside such a call. If the driver made that launch, the launch could wait for
 * the call of its own thread.
 */
bool rex_present_is_entered(void);

/*
 * Returns true if a call may have attached a pointer that the table does not know. For example,
 * only libomptarget sees the rows of a mapper. An attached pointer has different values on host and
 * device.
 */
bool rex_pointers_are_attached(void);

/*
 * Returns true if a call may have mapped a row whose base address lies outside the row. Such a row
 * is an array section that does not start at element 0, or a row from a mapper. LLVM 15 and
 * later find the mapping also by an address between the base and the row.
 */
bool rex_bases_are_apart(void);

#endif
