/*
 * copythreads.h - threads that copy, asleep but for the time of a copy.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_COPYTHREADS_H
#define REX_INTERNAL_COPYTHREADS_H

#include <stdbool.h>

#define REX_COPY_THREADS_MOST 8

/* How many copy, as REX_COPY_THREADS says, or as the processors of the process allow; 0: none. */
unsigned rex_copy_threads(void);

/*
 * The caller alone has the threads until rex_copy_threads_give(); false where another has. It is
 * never waited for.
 */
bool rex_copy_threads_take(void);
void rex_copy_threads_give(void);

/*
 * For who has taken them: COUNT threads, or fewer where no more could be started, call WORK with
 * their number, from 0, and JOB. Returns when all have returned.
 */
void rex_copy_threads_run(unsigned count, void (*work)(unsigned number, void *job), void *job);

#endif
