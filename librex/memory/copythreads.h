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
 * Returns the number of threads in a crew. PROCESSORS is the number of processors of the process.
 * The result is half of PROCESSORS, and at most REX_COPY_THREADS_MOST. If half of PROCESSORS is 1,
 * the result is 0, because one thread is slower than the driver.
 */
unsigned rex_copy_threads_of(int processors);

/*
 * Returns the number of threads in a crew. The setting REX_COPY_THREADS gives this number. Without
 * the setting, rex_copy_threads_of() computes the number from the processors of the process. If the
 * number is 0, threads do not copy.
 */
unsigned rex_copy_threads(void);

/*
 * A crew is a group of threads that share one copy at a time. Several crews can make copies at
 * once, for example for different GPUs.
 */
struct rex_copy_crew;

/*
 * Returns the maximum number of crews of COUNT threads each. All crews together have at most
 * PROCESSORS / 2 threads, but there is at least one crew.
 */
unsigned rex_copy_crews_of(int processors, unsigned count);

/*
 * Reserves a crew for the caller, until rex_copy_crew_give(). Considers only the crews with numbers
 * from 0 to MOST - 1. Returns NULL if all of them are in use. Does not wait.
 */
struct rex_copy_crew *rex_copy_crew_take(unsigned most);
void rex_copy_crew_give(struct rex_copy_crew *crew);

/*
 * Makes COUNT threads of CREW call WORK(number, JOB), with numbers from 0. If the system starts
 * fewer than COUNT threads, only the started threads call WORK. Returns after all calls of WORK
 * have returned.
 */
void rex_copy_crew_run(struct rex_copy_crew *crew, unsigned count,
                       void (*work)(unsigned number, void *job), void *job);

#endif
