/*
 * copythreads.h - threads that copy, and sleep between copies.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_COPYTHREADS_H
#define REX_INTERNAL_COPYTHREADS_H

#include <stdbool.h>

#define REX_COPY_THREADS_MOST 8

/* Half of the processors, because one thread alone is slower than the driver. */
unsigned rex_copy_threads_of(int processors);

/* The number of threads: as REX_COPY_THREADS says, else by the process's processors; 0: none. */
unsigned rex_copy_threads(void);

/*
 * The caller alone has the threads until rex_copy_threads_give(). False if another thread has them;
 * this call does not wait.
 */
bool rex_copy_threads_take(void);
void rex_copy_threads_give(void);

/*
 * After rex_copy_threads_take(): COUNT threads, or as many as could be started, call WORK with
 * their number, from 0, and JOB. Returns when all have returned.
 */
void rex_copy_threads_run(unsigned count, void (*work)(unsigned number, void *job), void *job);

#endif
