/*
 * copythreads.h - threads that copy, and sleep between copies.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_COPYTHREADS_H
#define REX_INTERNAL_COPYTHREADS_H

#include <stdbool.h>

#define REX_COPY_THREADS_MOST 8 /* maximum number of threads in a crew */
#define REX_COPY_CREWS_MOST 8

/*
 * Returns the number of threads in a crew, for PROCESSORS: half of them, but 0 instead of 1,
 * because one thread is slower than the driver.
 */
unsigned rex_copy_threads_of(int processors);

/*
 * Returns the number of threads in a crew: REX_COPY_THREADS, or, if it is not set,
 * rex_copy_threads_of() the processors of the process. 0: threads do not copy.
 */
unsigned rex_copy_threads(void);

/* Threads that make one copy at a time. Several GPUs are served by several crews. */
struct rex_copy_crew;

/*
 * Returns the maximum number of crews of COUNT threads each: together half of PROCESSORS, but at
 * least one crew.
 */
unsigned rex_copy_crews_of(int processors, unsigned count);

/*
 * Returns one of the first MOST crews, which is the caller's until rex_copy_crew_give(). Returns
 * NULL if all of them are in use. Does not wait.
 */
struct rex_copy_crew *rex_copy_crew_take(unsigned most);
void rex_copy_crew_give(struct rex_copy_crew *crew);

/*
 * Has COUNT threads of CREW, or as many as could be started, call WORK with their number, from 0,
 * and JOB. Returns after all have returned.
 */
void rex_copy_crew_run(struct rex_copy_crew *crew, unsigned count,
                       void (*work)(unsigned number, void *job), void *job);

#endif
