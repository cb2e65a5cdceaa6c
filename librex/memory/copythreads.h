/*
 * copythreads.h - threads that copy, and sleep between copies.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_COPYTHREADS_H
#define REX_INTERNAL_COPYTHREADS_H

#include <stdbool.h>

#define REX_COPY_THREADS_MOST 8 /* of a crew */
#define REX_COPY_CREWS_MOST 8

/* Half of the processors, because one thread alone is slower than the driver. */
unsigned rex_copy_threads_of(int processors);

/* The number of threads: as REX_COPY_THREADS says, else by the process's processors; 0: none. */
unsigned rex_copy_threads(void);

/* Threads that make one copy at a time. Several GPUs are served by several crews. */
struct rex_copy_crew;

/* The maximum number of crews of COUNT threads each: together half of PROCESSORS, but at least 1. */
unsigned rex_copy_crews_of(int processors, unsigned count);

/*
 * Returns one of the first MOST crews, which is the caller's until rex_copy_crew_give(), or NULL if all of
 * them are at work. Does not wait.
 */
struct rex_copy_crew *rex_copy_crew_take(unsigned most);
void rex_copy_crew_give(struct rex_copy_crew *crew);

/*
 * COUNT threads of CREW, or as many as could be started, call WORK with their number, from 0, and
 * JOB. Returns when all have returned.
 */
void rex_copy_crew_run(struct rex_copy_crew *crew, unsigned count,
                       void (*work)(unsigned number, void *job), void *job);

#endif
