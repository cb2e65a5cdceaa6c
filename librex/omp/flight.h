/*
 * flight.h - calls of libomptarget that are in flight: which threads are inside it.
 *
 * Launches, data calls and questions about what is mapped are counted, each by its own thread, so
 * that none waits for another. Two look at all counts: who registers or ends a module, at which
 * libomptarget crashes where that meets a launch, and a fork, whose child cannot go on with what
 * another thread of its parent was changing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FLIGHT_H
#define REX_INTERNAL_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/thread.h"

/* A thread as it enters libomptarget. On the list of all threads from its first call that is not a
 * launch like the one before. */
struct rex_flight {
    /*
     * What rex_flight_devices() had said when this thread, which alone reads and writes them, last
     * entered; both 0 while it is not on the list, so that the look at a device's number that each
     * launch needs tells that, too.
     */
    uint64_t numbers, devices;
    uint32_t depth; /* calls in flight: a kernel of the host device may launch another */
    bool is_listed;
    struct rex_flight *next;
};
extern __thread struct rex_flight rex_flight;
/*
 * The same object. By this name a launch finds it again after libomptarget's call; by the first one
 * the compiler would keep its place in a register meanwhile, which takes one instruction more.
 */
extern __thread struct rex_flight rex_flight_again;

/*
 * A launch like the one before is in flight from before it looks for that one, in
 * registration->recent, to its end. It asks for nothing: who wants no launch to begin has emptied
 * `recent` (rex_launches_forget()), and looks at the counts after that.
 */
static inline void rex_flight_begin(void)
{
    __atomic_fetch_add(&rex_flight.depth, 1, __ATOMIC_SEQ_CST);
}
static inline void rex_flight_end(void)
{
    __atomic_fetch_sub(&rex_flight_again.depth, 1, __ATOMIC_RELEASE);
}

/*
 * Before every other call of libomptarget, with rex_flight_end() after it: it may wait for a
 * registration, but not where it is made inside of another one. 0, or an error as of
 * rex_flight_check(), or REX_ENOMEM; then nothing has to be ended.
 */
int rex_flight_join(void);

/*
 * The same where libomptarget or the driver may come to read() or write(), under locks of theirs or
 * of librex: a cancelled thread does not end between the two.
 */
static inline int rex_flight_enter(void)
{
    int result = rex_flight_join();
    if (result == 0)
        rex_shelter_begin();
    return result;
}
static inline void rex_flight_leave(void)
{
    rex_flight_end();
    rex_shelter_end();
}

/*
 * REX_EFORK in a child of a process that was forked while another of its threads was inside
 * libomptarget; REX_EINVAL where the process, or this thread, is ending. Otherwise 0.
 */
int rex_flight_check(void);

/* Whether this is such a child, and whether the process is ending. */
bool rex_flight_is_torn(void);
bool rex_flight_is_over(void);

/*
 * libomptarget has registered a module. At the end of the process, before it takes down what it has
 * built by now, nobody may enter it any more.
 */
void rex_flight_watch_exit(void);

/* This thread is inside libomptarget. */
static inline bool rex_flight_is_inside(void)
{
    /* Relaxed: nobody else writes it. */
    return __atomic_load_n(&rex_flight.depth, __ATOMIC_RELAXED) > 0;
}

/*
 * REX_EBUSY where this thread is inside of a call, so that it cannot register or end the module
 * that WHAT names. Otherwise 0.
 */
int rex_flight_check_outside(const char *what);

/*
 * Register or end a module, which WHAT names, between these two: no other thread is inside
 * libomptarget meanwhile, which of every release crashes where these meet (14 to 18 where a thread
 * loads what another one ends). REX_EBUSY as of rex_flight_check_outside(), or where others do not
 * end in a minute. Otherwise as rex_flight_enter().
 */
int rex_flight_register(const char *what);
void rex_flight_registered(void);

/*
 * libomptarget has COUNT devices, and device numbers below NUMBERS - 1, and -1, need no question.
 */
void rex_flight_devices(uint64_t numbers, uint64_t count);

#endif
