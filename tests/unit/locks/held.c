/*
 * held.c - a thread gives back no lock that it does not hold, and takes locks in the order of their ranks: in every unit test, instead of a
 * race that few runs would see.
 *
 * The linker has librex's calls come here (rules.mk). A lock that is never given back is one that the next thread waits for in vain.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64 };
static __thread const pthread_mutex_t *held[MOST];
static __thread int count;

/*
 * A test's: whoever takes a lock, after so many others, writes a byte to the first, and keeps the
 * lock until the second has no writer any more;
 */
extern int held_pipe, held_until, held_after;
int held_pipe = -1, held_until = -1, held_after = 0;
/* the writer's end of that: whoever has to wait for a lock closes it. */
extern int held_writer;
int held_writer = -1;

static void keep(void)
{
    char byte;
    if (__atomic_load_n(&held_pipe, __ATOMIC_SEQ_CST) < 0 || held_after-- > 0)
        return;
    int pipe = __atomic_exchange_n(&held_pipe, -1, __ATOMIC_SEQ_CST);
    if (pipe >= 0 && write(pipe, "", 1) == 1)
        while (read(held_until, &byte, 1) > 0)
            ;
}

void held_let_go(void);
void held_let_go(void)
{
    int writer = __atomic_exchange_n(&held_writer, -1, __ATOMIC_SEQ_CST);
    if (writer >= 0)
        close(writer);
}

/* The locks that a fork takes, in the order of their ranks (base/process.h): the handler takes them once as it is registered. */
enum { RANKED = 32 };
static const pthread_mutex_t *ranked[RANKED];
static unsigned ranks;
static bool is_learning;

/* A test's: whether there is no memory for the handler. */
bool no_handler(void) __attribute__((weak));

typedef void handler(void);
int __real_pthread_atfork(handler *before, handler *after, handler *in_child);
int __wrap_pthread_atfork(handler *before, handler *after, handler *in_child);
int __wrap_pthread_atfork(handler *before, handler *after, handler *in_child)
{
    if (no_handler != NULL && no_handler())
        return ENOMEM;
    is_learning = true;
    before();
    is_learning = false;
    after();
    return __real_pthread_atfork(before, after, in_child);
}

/* 0: a fork does not take it. */
static unsigned rank_of(const pthread_mutex_t *mutex)
{
    unsigned rank = ranks;
    while (rank > 0 && ranked[rank - 1] != mutex)
        rank--;
    return rank;
}

/* Under a lock that a fork takes, a thread waits only for such ones of higher ranks. */
static void check_rank(const pthread_mutex_t *mutex)
{
    for (int i = 0; i < count; i++) {
        unsigned rank = rank_of(held[i]);
        if (rank == 0 || rank < rank_of(mutex))
            continue;
        fprintf(stderr, "lock %u of a fork is taken under lock %u\n", rank_of(mutex), rank);
        abort();
    }
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
static int lock_and_tell(pthread_mutex_t *mutex)
{
    if (is_learning && ranks < RANKED)
        ranked[ranks++] = mutex;
    check_rank(mutex);
    int result = __real_pthread_mutex_trylock(mutex);
    if (result != EBUSY)
        return result;
    held_let_go();
    return __real_pthread_mutex_lock(mutex);
}

/* A function that takes a lock, by REAL. */
#define TAKES(name, real, parameters, ...) \
    int __wrap_##name parameters;          \
    int __wrap_##name parameters           \
    {                                      \
        int result = real(__VA_ARGS__);    \
        if (result == 0 && count < MOST)   \
            held[count++] = mutex;         \
        keep();                            \
        return result;                     \
    }
int __real_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
TAKES(pthread_mutex_lock, lock_and_tell, (pthread_mutex_t * mutex), mutex)
TAKES(pthread_mutex_trylock, __real_pthread_mutex_trylock, (pthread_mutex_t * mutex), mutex)
TAKES(pthread_mutex_timedlock, __real_pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *until), mutex, until)

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int i = count - 1;
    while (i >= 0 && held[i] != mutex)
        i--;
    if (i < 0) {
        fputs("a lock is given back by a thread that does not hold it\n", stderr);
        abort();
    }
    held[i] = held[--count];
    return __real_pthread_mutex_unlock(mutex);
}
