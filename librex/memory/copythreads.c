/*
 * copythreads.c - threads that copy, and sleep between copies.
 *
 * They are started at their first use, and stay. No code ends them, because a destructor that
 * waited for threads would hang if the process ends inside one of them. At the end of the process
 * they sleep, or the driver tells them that it is gone, which is an error like others.
 *
 * They copy memory of the program. The program may have protected it to catch accesses: a fault
 * then runs the program's handler in the copying thread. All other signals are blocked here and
 * reach the program's threads.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/copythreads.h"

#include <pthread.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    pthread_cond_t begun, done;
    bool taken;
    unsigned started;                     /* threads */
    uint64_t serial;                      /* of the job */
    uint64_t seen[REX_COPY_THREADS_MOST]; /* of each thread: the last job that it has looked at */
    unsigned count;                       /* threads that the job is for */
    unsigned at_work;                     /* those of them that have not returned */
    void (*work)(unsigned number, void *job);
    void *job;
} pool = {.begun = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

/* A child of fork has none of the threads. */
static void forget_copy_threads(void)
{
    pool.begun = pool.done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.taken = false;
    pool.started = pool.count = pool.at_work = 0;
}

REX_FORK_TAKEN(72, forget_copy_threads);

/* ---- how many -------------------------------------------------------------------------------- */

unsigned rex_copy_threads_of(int processors)
{
    unsigned half = (unsigned)processors / 2;
    return half < 2 ? 0 : half < REX_COPY_THREADS_MOST ? half : REX_COPY_THREADS_MOST;
}

unsigned rex_copy_threads(void)
{
    int count = rex_setting_read(REX_OPTION_COPY_THREADS);
    return count >= 0 ? (unsigned)count : rex_copy_threads_of(rex_processors_known());
}

/* ---- one thread ------------------------------------------------------------------------------ */

static void *run_copy_thread(void *argument)
{
    unsigned number = (unsigned)(uintptr_t)argument;
    rex_processors_unbind();
    pthread_mutex_lock(&lock);
    for (;;) {
        /* The next job that this thread takes part in. */
        while (pool.serial == pool.seen[number] || number >= pool.count) {
            pool.seen[number] = pool.serial;
            pthread_cond_wait(&pool.begun, &lock);
        }
        pool.seen[number] = pool.serial;
        pthread_mutex_unlock(&lock);
        pool.work(number, pool.job);
        pthread_mutex_lock(&lock);
        if (--pool.at_work == 0)
            pthread_cond_signal(&pool.done);
    }
    return NULL;
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool rex_copy_threads_take(void)
{
    pthread_mutex_lock(&lock);
    bool was_taken = pool.taken;
    pool.taken = true;
    pthread_mutex_unlock(&lock);
    if (!was_taken)
        rex_shelter_begin();
    return !was_taken;
}

void rex_copy_threads_give(void)
{
    pthread_mutex_lock(&lock);
    pool.taken = false;
    pthread_mutex_unlock(&lock);
    rex_shelter_end();
}

void rex_copy_threads_run(unsigned count, void (*work)(unsigned number, void *job), void *job)
{
    unsigned most = count < REX_COPY_THREADS_MOST ? count : REX_COPY_THREADS_MOST;
    unsigned before = pool.started;
    pthread_t thread; /* never ends, so it need not be detached */
    /* As many threads as the system allows. */
    for (; pool.started < most; pool.started++) {
        pool.seen[pool.started] = pool.serial;
        if (!rex_thread_start(&thread, run_copy_thread, (void *)(uintptr_t)pool.started))
            break;
    }
    if (pool.started > before)
        rex_log(REX_LOG_INFO, "large copies of pageable memory are made by %u threads",
                pool.started);
    count = pool.started < most ? pool.started : most;
    if (count == 0)
        return;
    rex_shelter_begin(); /* the job may be on the caller's stack */
    pthread_mutex_lock(&lock);
    REX_ASSERT(pool.taken && pool.at_work == 0);
    pool.work = work;
    pool.job = job;
    pool.count = pool.at_work = count;
    pool.serial++;
    pthread_cond_broadcast(&pool.begun);
    while (pool.at_work > 0)
        pthread_cond_wait(&pool.done, &lock);
    pthread_mutex_unlock(&lock);
    rex_shelter_end();
}
