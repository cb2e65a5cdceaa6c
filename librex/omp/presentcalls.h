/*
 * presentcalls.h - calls of libomptarget enter the present table and leave it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PRESENTCALLS_H
#define REX_INTERNAL_PRESENTCALLS_H

#include "omp/present.h"

/*
 * Enter before a call of libomptarget on DEVICE (-1: the default one) with the rows of MAP, leave
 * after it. The call waits for calls at work that exclude it. When it leaves, the entries that it
 * has made or may have ended are as libomptarget has them. LATER: the call may return before it is
 * done, or has failed: its memory is loose. A call inside of another one waits for nothing. A map without all of its
 * columns has no rows.
 *
 * An end waits for no queue here: call rex_before_unmap() or rex_unfinished_wait() (unfinished.h)
 * first.
 */
void rex_present_enter(enum rex_present_call call, const struct rex_map *map, int64_t device);
void rex_present_leave(enum rex_present_call call, const struct rex_map *map, int64_t device,
                       bool later);

/*
 * Whether a call has attached a pointer to mapped memory: the pointer's bytes on the device differ
 * from the host's.
 */
bool rex_pointers_are_attached(void);

#endif
