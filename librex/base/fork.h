/*
 * fork.h - what librex does around a fork.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FORK_H
#define REX_INTERNAL_FORK_H

#include <pthread.h>
#include <stdbool.h>

/*
 * A file with a lock, or with other state that a child forgets, says once, with one of these
 * macros, what a fork does to it. None allocates. The functions have no parameters.
 *
 * REX_FORK_TAKEN(rank, in_child): only librex runs under `lock`, for microseconds. The lock is
 * taken before a fork and given back after it, so that the child finds it free, and its data
 * whole. IN_CHILD is called in the child just before; NULL: nothing else is done.
 *
 * REX_FORK_RENEWED(rank, in_child): the driver, libomptarget or the loader is called under `lock`.
 * That may take long, and may itself wait for a fork: a driver starts nvidia-modprobe if a device
 * file is missing, and glibc before 2.36 runs the handlers of one fork at a time. So no handler
 * waits for the lock. IN_CHILD makes it anew, and forgets its data unless they are whole at any
 * time.
 *
 * REX_FORK_WATCHED(rank, before, after, in_child): BEFORE is called when all locks have been taken,
 * and AFTER in the parent before they are given back. IN_CHILD is called in the child before that.
 * The rank is higher than that of any lock.
 *
 * A lock is taken only under locks of lower ranks. Each rank is used once. All renewed locks have
 * lower ranks than all taken ones: a fork waits for a taken lock, so that its holder must not wait
 * for a lock that is held for long. tests/scripts/locks.sh compares the ranks.
 */
#define REX_FORK_TAKEN(rank, in_child) REX_FORK_HANDLER(rank, &lock, NULL, NULL, in_child)
#define REX_FORK_RENEWED(rank, in_child) REX_FORK_HANDLER(rank, NULL, NULL, NULL, in_child)
#define REX_FORK_WATCHED(rank, before, after, in_child) \
    REX_FORK_HANDLER(rank, NULL, before, after, in_child)

struct rex_fork_handler {
    pthread_mutex_t *taken;               /* NULL: no lock, or a renewed one */
    void (*before)(void), (*after)(void); /* NULL: nothing else */
    void (*in_child)(void);               /* NULL: nothing else */
};

#define REX_FORK_RANKS 100

/*
 * HANDLER, which stays, is used from now on. Only for the constructors below: all of them run
 * before the one of fork.c, which has no priority, so that no fork sees the handlers change.
 */
void rex_fork_register(unsigned rank, const struct rex_fork_handler *handler);

#define REX_FORK_HANDLER(rank, taken, before, after, in_child)                           \
    __attribute__((constructor(1000))) static void register_fork_handler(void)           \
    {                                                                                    \
        static const struct rex_fork_handler fork_handler = {(taken), (before), (after), \
                                                             (in_child)};                \
        rex_fork_register((rank), &fork_handler);                                        \
    }                                                                                    \
    _Static_assert((rank) < REX_FORK_RANKS, "a rank that there is")

static inline void rex_fork_renew(pthread_mutex_t *mutex)
{
    *mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/*
 * Whether forks are seen. Tried again where it failed, as it may for want of memory: without it a
 * child would wait for ever for a lock that another thread held. For one thread at a time.
 */
bool rex_fork_is_watched(void);

/* Forks that led to this process, since librex was loaded. */
extern unsigned rex_fork_count;
static inline unsigned rex_forks(void)
{
    return rex_fork_count;
}

#endif
