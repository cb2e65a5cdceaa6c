/*
 * fork.h - what librex does around a fork.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FORK_H
#define REX_INTERNAL_FORK_H

#include <pthread.h>

enum rex_fork { REX_FORK_BEGINS, REX_FORK_IN_PARENT, REX_FORK_IN_CHILD };

/*
 * Locks under which nothing runs but librex itself, for microseconds. They are taken before a fork
 * and given back after it, so that the child finds them free, and whole what they guard. Outermost
 * first: no lock is taken under one that stands below it.
 */
#define REX_FORK_TAKEN(X) \
    X(trace)              \
    X(adopted)            \
    X(module)             \
    X(modules)            \
    X(match)              \
    X(table)              \
    X(given)              \
    X(keep)               \
    X(pinned)             \
    X(lost)               \
    X(log)                \
    X(config)

/*
 * Locks under which others are called: the driver, libomptarget, the loader. That may take long,
 * and may itself wait for a fork: a driver starts nvidia-modprobe where a device file is missing,
 * and glibc before 2.36 runs the handlers of one fork at a time. So no handler waits for them. The
 * child makes them anew and forgets what they guard, unless that is whole at any time. The driver's
 * own state is the parent's (cuda.c): the locks of context.c, stream.c and queueimage.c, which only
 * those take who have a driver, are not here.
 */
#define REX_FORK_RENEWED(X) \
    X(cuda)                 \
    X(runtime)              \
    X(recording)            \
    X(pending)              \
    X(mapping)

#define REX_FORK_FUNCTION(name) void rex_##name##_fork(enum rex_fork when);
REX_FORK_TAKEN(REX_FORK_FUNCTION)
REX_FORK_RENEWED(REX_FORK_FUNCTION)
#undef REX_FORK_FUNCTION

static inline void rex_fork_take(pthread_mutex_t *mutex, enum rex_fork when)
{
    if (when == REX_FORK_BEGINS)
        pthread_mutex_lock(mutex);
    else
        pthread_mutex_unlock(mutex);
}

static inline void rex_fork_renew(pthread_mutex_t *mutex)
{
    *mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* Forks that led to this process, since librex was loaded. */
extern unsigned rex_fork_count;
static inline unsigned rex_forks(void)
{
    return rex_fork_count;
}

/* Have it done from now on; once. */
void rex_fork_watch(void);

#endif
