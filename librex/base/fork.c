/*
 * fork.c - what librex does around a fork.
 *
 * A child has the thread that forked, and no other. Data that another thread was changing stay
 * half done, and a lock that it held stays locked for ever. So each file with a lock registers here
 * what has to be done with it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/fork.h"

#include <stddef.h>

static const struct rex_fork_handler *handlers[REX_FORK_RANKS]; /* NULL: no file has this rank */
unsigned rex_fork_count;

void rex_fork_register(unsigned rank, const struct rex_fork_handler *handler)
{
    handlers[rank] = handler;
}

static void take_locks(void)
{
    for (size_t i = 0; i < REX_FORK_RANKS; i++) {
        if (handlers[i] != NULL && handlers[i]->taken != NULL)
            pthread_mutex_lock(handlers[i]->taken);
        if (handlers[i] != NULL && handlers[i]->before != NULL)
            handlers[i]->before();
    }
}

static void unlock_in_parent(void)
{
    for (size_t i = REX_FORK_RANKS; i-- > 0;) {
        if (handlers[i] != NULL && handlers[i]->after != NULL)
            handlers[i]->after();
        if (handlers[i] != NULL && handlers[i]->taken != NULL)
            pthread_mutex_unlock(handlers[i]->taken);
    }
}

static void in_child(void)
{
    rex_fork_count++;
    for (size_t i = 0; i < REX_FORK_RANKS; i++)
        if (handlers[i] != NULL && handlers[i]->taken == NULL)
            handlers[i]->in_child();
    for (size_t i = REX_FORK_RANKS; i-- > 0;) {
        if (handlers[i] == NULL || handlers[i]->taken == NULL)
            continue;
        if (handlers[i]->in_child != NULL)
            handlers[i]->in_child();
        pthread_mutex_unlock(handlers[i]->taken);
    }
}

bool rex_fork_is_watched(void)
{
    static bool is_watched;
    is_watched = is_watched || pthread_atfork(take_locks, unlock_in_parent, in_child) == 0;
    return is_watched;
}

__attribute__((constructor)) static void watch_forks(void)
{
    rex_fork_is_watched();
}
