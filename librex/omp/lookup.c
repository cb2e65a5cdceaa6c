/*
 * lookup.c - keeps look-ups of addresses apart from ends of mappings, on LLVM 14 and 15.
 *
 * LLVM 14 and 15 return the device address of mapped memory only from a data call, which takes a
 * reference until its end. If another thread ends the mapping in between, that end is not the last:
 * it copies nothing back, and the mapping may stay.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/lookup.h"

#include <pthread.h>

#include "base/log.h"
#include "base/process.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* `take_references` by an atomic. */
static struct {
    pthread_cond_t changed;
    unsigned ends;   /* calls at work that end mappings */
    bool is_looking; /* a thread is in a look-up */
    bool take_references;
} lookups = {.changed = PTHREAD_COND_INITIALIZER};

static void forget_in_child(void)
{
    rex_fork_renew(&lock);
    lookups.changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    lookups.ends = 0;
    lookups.is_looking = false;
}

REX_FORK_RENEWED(18, forget_in_child);

void rex_lookups_take_references(void)
{
    __atomic_store_n(&lookups.take_references, true, __ATOMIC_RELEASE);
}

void rex_lookup_begin(void)
{
    rex_lock(&lock);
    while (lookups.ends > 0 || lookups.is_looking)
        pthread_cond_wait(&lookups.changed, &lock);
    lookups.is_looking = true;
    rex_unlock(&lock);
}

void rex_lookup_end(void)
{
    rex_lock(&lock);
    lookups.is_looking = false;
    pthread_cond_broadcast(&lookups.changed);
    rex_unlock(&lock);
}

bool rex_ending_begin(void)
{
    if (!__atomic_load_n(&lookups.take_references, __ATOMIC_ACQUIRE))
        return false;
    rex_lock(&lock);
    while (lookups.is_looking)
        pthread_cond_wait(&lookups.changed, &lock);
    lookups.ends++;
    rex_unlock(&lock);
    return true;
}

void rex_ending_end(void)
{
    rex_lock(&lock);
    if (--lookups.ends == 0)
        pthread_cond_broadcast(&lookups.changed);
    rex_unlock(&lock);
}
