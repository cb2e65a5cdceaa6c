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
 * A file that has a lock says with one of these three, once, what a fork does to it. Neither
 * allocates; IN_CHILD is a function without parameters, or NULL.
 *
 * REX_FORK_TAKEN(rank, in_child): nothing but librex itself runs under `lock`, for microseconds. It
 * is locked before a fork and unlocked after it, so that the child finds it free, and whole what
 * it guards. IN_CHILD is called in the child just before.
 *
 * REX_FORK_RENEWED(rank, in_child): others are called under `lock`: the driver, libomptarget, the
 * loader. That may take long, and may itself wait for a fork: a driver starts nvidia-modprobe where
 * a device file is missing, and glibc before 2.36 runs the handlers of one fork at a time. So no
 * handler waits for it. IN_CHILD makes it anew and forgets what it guards, unless that is whole at
 * any time.
 *
 * REX_FORK_UNREACHED(reason): no child takes `lock`, and REASON says why.
 *
 * Ranks are those of the locks: one is taken only under locks of lower ranks. Locks are taken in
 * the order of their ranks and unlocked in the reverse order. Each rank is used once; all that
 * are renewed come before all that are taken, since under a lock that a fork waits for nobody may
 * wait for one that others hold for long. tests/scripts/locks.sh compares the ranks.
 */
#define REX_FORK_TAKEN(rank, in_child) REX_FORK_HANDLER(rank, &lock, in_child)
#define REX_FORK_RENEWED(rank, in_child) REX_FORK_HANDLER(rank, NULL, in_child)
#define REX_FORK_UNREACHED(reason) _Static_assert(sizeof(reason) > 1, "a reason")

struct rex_fork_handler {
    pthread_mutex_t *taken; /* NULL: renewed */
    void (*in_child)(void); /* NULL: nothing else */
};

#define REX_FORK_RANKS 100

/*
 * HANDLER, which stays, is used from now on. Only for the constructors below: all of them run
 * before the one of fork.c, which has no priority, so that no fork sees the handlers change.
 */
void rex_fork_register(unsigned rank, const struct rex_fork_handler *handler);

#define REX_FORK_HANDLER(rank, taken, in_child)                                    \
    __attribute__((constructor(1000))) static void register_fork_handler(void)     \
    {                                                                              \
        static const struct rex_fork_handler fork_handler = {(taken), (in_child)}; \
        rex_fork_register((rank), &fork_handler);                                  \
    }                                                                              \
    _Static_assert((rank) < REX_FORK_RANKS, "a rank that there is")

static inline void rex_fork_renew(pthread_mutex_t *mutex)
{
    *mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/*
 * LOOK is called before a fork when all locks have been taken, and GO_ON in the parent before they
 * are given back. For one constructor of a lower number than that of fork.c.
 */
void rex_fork_look(void (*look)(void), void (*go_on)(void));

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
