/*
 * presentcalls.h - calls of libomptarget enter the present table and leave it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PRESENTCALLS_H
#define REX_INTERNAL_PRESENTCALLS_H

#include "present/present.h"

/* How a call leaves. */
enum rex_present_outcome {
    REX_LEFT_DONE,
    REX_LEFT_UNSURE, /* it may return before it is done, or has failed: its memory is loose */
    REX_LEFT_REFUSED /* libomptarget was not called */
};

/*
 * Enter before a call of libomptarget on device NUMBER with the rows of MAP, which has all columns
 * unless it has no rows; leave after it. The call waits for calls at work that exclude it. When it
 * leaves, the entries that it has made or may have ended are as libomptarget has them. The memory
 * of a call that leaves LATER is loose. A call inside of another one waits for nothing. Lines of
 * the log between the two reach the program's function after them, because it may launch.
 *
 * Returns what the table has of the rows, until the call leaves. NULL: nothing is known.
 *
 * An end waits for no queue here: call rex_before_unmap() or rex_unfinished_wait() (unfinished.h)
 * first.
 */
const struct rex_range_lock *rex_present_enter(enum rex_present_call call,
                                               const struct rex_map *map, int number);
void rex_present_leave(enum rex_present_call call, const struct rex_map *map, int number,
                       enum rex_present_outcome how);

/*
 * Whether this thread is in such a call. A function for the log, or a mapper, may launch there; a
 * launch by the driver would wait for its own thread.
 */
bool rex_present_is_entered(void);

/*
 * Whether a call may have attached a pointer in memory that the table does not know: a mapper tells
 * its rows to libomptarget alone. The pointer's bytes on the device differ from the host's.
 */
bool rex_pointers_are_attached(void);

/*
 * Whether a call may have mapped a row whose base is not in it: a section behind its array's begin,
 * or a row of a mapper. LLVM 15 and later find such a mapping by addresses between the two, too.
 */
bool rex_bases_are_apart(void);

#endif
