/*
 * thread.c - what librex keeps for each thread: allocated when it is first needed, freed when the
 * thread ends. Threads that have something are in a list, for questions about all of them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/thread.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/process.h"

__thread struct rex_thread rex_thread;

/* ---- the list of threads --------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rex_thread *all;

void rex_threads_lock(void)
{
    pthread_mutex_lock(&lock);
}

void rex_threads_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool rex_threads_are_in_flight(void)
{
    for (const struct rex_thread *thread = all; thread != NULL; thread = thread->next)
        if (thread != &rex_thread && __atomic_load_n(&thread->in_flight, __ATOMIC_SEQ_CST) > 0)
            return true;
    return false;
}

static void begin_in_child(void)
{
    all = rex_thread.part != NULL ? &rex_thread : NULL;
    rex_thread.next = NULL;
}

REX_FORK_TAKEN(95, begin_in_child);

/* ---- parts ----------------------------------------------------------------------------------- */

static unsigned key; /* plus 1, atomic; 0: there is none yet */

/*
 * Destructors of other keys may run later and use librex again. Then this one runs in the next
 * round, too; after PTHREAD_DESTRUCTOR_ITERATIONS rounds there is none.
 */
static void end(void *unused)
{
    (void)unused;
    void **part = rex_thread.part;
    rex_threads_lock();
    struct rex_thread **link = &all;
    while (*link != &rex_thread)
        link = &(*link)->next;
    *link = rex_thread.next;
    rex_threads_unlock();
    rex_thread.in_flight = 0;
    rex_thread.part = NULL;
    for (size_t i = 0; i < REX_PARTS; i++)
        free(part[i]);
    free(part);
    rex_thread.ends++;
}

bool rex_thread_is_over(void)
{
    return rex_thread.ends >= PTHREAD_DESTRUCTOR_ITERATIONS;
}

/* Tried again by each new thread where it failed: a process has a limited number of keys. */
static bool make_key(void)
{
    unsigned none = 0;
    pthread_key_t made;
    if (__atomic_load_n(&key, __ATOMIC_ACQUIRE) != 0)
        return true;
    if (pthread_key_create(&made, end) != 0)
        return false;
    if (!__atomic_compare_exchange_n(&key, &none, made + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        pthread_key_delete(made);
    return true;
}

bool rex_thread_list(void)
{
    if (rex_thread_is_over() || !make_key())
        return false;
    void **part = calloc(REX_PARTS, sizeof *part);
    if (part == NULL)
        return false;
    if (pthread_setspecific(__atomic_load_n(&key, __ATOMIC_ACQUIRE) - 1, part) != 0) {
        free(part);
        return false;
    }
    rex_thread.part = part;
    rex_threads_lock();
    rex_thread.next = all;
    all = &rex_thread;
    rex_threads_unlock();
    return true;
}

void *rex_part_new(enum rex_part part, size_t size)
{
    if (!rex_thread_is_listed())
        return NULL;
    if (rex_thread.part[part] == NULL)
        rex_thread.part[part] = calloc(1, size);
    return rex_thread.part[part];
}

void rex_cancel_disable(void)
{
    int before = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    rex_thread.cancel_state = (int8_t)before;
}

void rex_cancel_restore(void)
{
    pthread_setcancelstate(rex_thread.cancel_state, NULL);
}

/* The key's function must stay for as long as there are threads, whatever dlclose() is given. */
__attribute__((constructor(1001))) static void begin(void)
{
    char path[PATH_MAX];
    make_key();
    rex_keep_loaded(&key, path);
}
