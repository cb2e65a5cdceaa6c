/*
 * copythreads.c - threads that copy, and sleep between copies.
 *
 * A thread starts at its first use and never ends. At the end of the process the threads sleep, or
 * their driver calls fail.
 *
 * The threads access memory of the program, which may be protected to catch accesses. Such an
 * access runs the program's handler of SIGSEGV in the copying thread. The handler may call exit(),
 * which runs destructors. So no destructor joins the threads: the destructor would wait for its own
 * thread. All signals except faults are blocked in these threads, so the program's own threads get
 * them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/copythreads.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct worker {
    struct rex_copy_crew *crew;
    unsigned number;
    uint64_t seen; /* `serial` of the crew when the thread last looked */
};

static struct rex_copy_crew {
    pthread_cond_t begun, done;
    bool is_taken;
    unsigned started; /* number of threads */
    struct worker worker[REX_COPY_THREADS_MOST];
    uint64_t serial;  /* number of the current or last job */
    unsigned count;   /* number of threads for the job */
    unsigned at_work; /* number of the job's threads that have not finished */
    void (*work)(unsigned number, void *job);
    void *job;
} crews[REX_COPY_CREWS_MOST]; /* zeros initialise the condition variables */

/* A child of fork() does not have the threads. */
static void forget_copy_threads(void)
{
    memset(crews, 0, sizeof crews);
}

REX_FORK_TAKEN(72, forget_copy_threads);

/* ---- the number of threads ------------------------------------------------------------------- */

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

unsigned rex_copy_crews_of(int processors, unsigned count)
{
    unsigned most = count > 0 ? (unsigned)processors / 2 / count : 1;
    most = most < REX_COPY_CREWS_MOST ? most : REX_COPY_CREWS_MOST;
    return most > 0 ? most : 1;
}

/* ---- one thread ------------------------------------------------------------------------------ */

static void *run_copy_thread(void *argument)
{
    struct worker *own = argument;
    struct rex_copy_crew *crew = own->crew;
    rex_processors_unbind();
    pthread_mutex_lock(&lock);
    for (;;) {
        /* Wait for a new job that includes this thread. */
        while (crew->serial == own->seen || own->number >= crew->count) {
            own->seen = crew->serial;
            pthread_cond_wait(&crew->begun, &lock);
        }
        own->seen = crew->serial;
        pthread_mutex_unlock(&lock);
        crew->work(own->number, crew->job);
        pthread_mutex_lock(&lock);
        if (--crew->at_work == 0)
            pthread_cond_signal(&crew->done);
    }
    return NULL;
}

/* ---- a crew ---------------------------------------------------------------------------------- */

struct rex_copy_crew *rex_copy_crew_take(unsigned most)
{
    struct rex_copy_crew *found = NULL;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < most && found == NULL; i++)
        if (!crews[i].is_taken)
            found = &crews[i];
    if (found != NULL)
        found->is_taken = true;
    pthread_mutex_unlock(&lock);
    if (found != NULL)
        rex_shelter_begin();
    return found;
}

void rex_copy_crew_give(struct rex_copy_crew *crew)
{
    pthread_mutex_lock(&lock);
    crew->is_taken = false;
    pthread_mutex_unlock(&lock);
    rex_shelter_end();
}

void rex_copy_crew_run(struct rex_copy_crew *crew, unsigned count,
                       void (*work)(unsigned number, void *job), void *job)
{
    unsigned most = count < REX_COPY_THREADS_MOST ? count : REX_COPY_THREADS_MOST;
    unsigned before = crew->started;
    pthread_t thread; /* the thread never ends, so it is not joined or detached */
    /* Start as many threads as the system allows. */
    for (; crew->started < most; crew->started++) {
        struct worker *worker = &crew->worker[crew->started];
        *worker = (struct worker){crew, crew->started, crew->serial};
        if (!rex_thread_start(&thread, run_copy_thread, worker))
            break;
    }
    if (crew->started > before)
        rex_log(REX_LOG_INFO, "large copies of pageable memory are made by %u threads",
                crew->started);
    count = crew->started < most ? crew->started : most;
    if (count == 0)
        return;
    rex_shelter_begin(); /* JOB may be on the caller's stack, so block cancellation */
    pthread_mutex_lock(&lock);
    REX_ASSERT(crew->is_taken && crew->at_work == 0);
    crew->work = work;
    crew->job = job;
    crew->count = crew->at_work = count;
    crew->serial++;
    pthread_cond_broadcast(&crew->begun);
    while (crew->at_work > 0)
        pthread_cond_wait(&crew->done, &lock);
    pthread_mutex_unlock(&lock);
    rex_shelter_end();
}
