/*
 * gate.h - calls of libomptarget that are in flight: which threads are inside it.
 *
 * Each thread counts its own launches, data calls and questions about mappings, and the program's
 * calls of the forwarders, so that no thread waits for another. A registration reads all counts
 * before it registers or ends a module, because libomptarget crashes if that meets a launch. A fork
 * reads all counts, because the child cannot go on with data that another thread of its parent was
 * changing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_GATE_H
#define REX_INTERNAL_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/deferred.h"
#include "rex/error.h"

/*
 * Call these around each call of libomptarget, but for a registration (rex_gate_register()).
 * rex_gate_enter() may wait for a registration, but not inside of another call. It returns what
 * rex_gate_check() returns; after an error the caller leaves nothing. A cancelled thread does not
 * end between the two, because libomptarget and the driver may call read() or write() under a lock.
 */
int rex_gate_enter(void);
void rex_gate_leave(void);

/*
 * The same for a call by the program itself, or by libomptarget through a forwarder. A call inside
 * of another one always enters. A thread that no registration can see enters, too. Returns 0, or
 * REX_EFORK or REX_EINVAL as rex_gate_check() does for the process.
 */
int rex_gate_enter_raw(void);

/* The same without an error; false: the thread may not enter. */
bool rex_gate_try_raw(void);

/* Whether rex_gate_enter_raw() would fail now. */
bool rex_gate_is_closed(void);

/*
 * REX_EFORK in a child of a process that was forked while another of its threads was inside
 * libomptarget. REX_EINVAL if the process or this thread is ending. REX_ENOMEM if a registration
 * cannot see this thread. Otherwise 0.
 */
int rex_gate_check(void);

/* Whether this process is such a child; whether the process is ending. */
extern int rex_gate_closed; /* REX_EFORK or REX_EINVAL: no thread may enter any more; atomic */
static inline bool rex_gate_is_torn(void)
{
    return __atomic_load_n(&rex_gate_closed, __ATOMIC_ACQUIRE) == REX_EFORK;
}
static inline bool rex_gate_is_over(void)
{
    return __atomic_load_n(&rex_gate_closed, __ATOMIC_ACQUIRE) == REX_EINVAL;
}

/*
 * Returns REX_EBUSY if this thread is inside a call, because it cannot register or end a module
 * then. WHAT names the module. Otherwise 0.
 */
int rex_gate_check_outside(const char *what);

/*
 * Register the module named WHAT between these two, or end it if ENDS is set. No other thread is
 * inside libomptarget meanwhile, because every release crashes if these meet (14 to 18 if a thread
 * loads what another one ends). REX_EBUSY as of rex_gate_check_outside(), or if other threads'
 * calls do not end in a minute. Other errors as of rex_gate_enter(). After the first registration
 * no thread enters libomptarget at the end of the process, before libomptarget destroys its
 * objects. The end waits up to a second for threads that are inside.
 */
int rex_gate_register(const char *what, bool ends);
void rex_gate_registered(void);

/*
 * A call that waits for other calls is outside meanwhile, so that a registration and a fork go on.
 * It may have pointers into its module: a module waits for it, too, before it ends.
 * rex_gate_resume() takes the result of rex_gate_pause(), and may wait for a registration.
 */
uint32_t rex_gate_pause(void);
void rex_gate_resume(uint32_t depth);

/*
 * Wait for the deferred launch with this number, for so many milliseconds (rex_deferred_poll()), or
 * for all so far. A thread that is inside leaves the gate meanwhile.
 */
void rex_await_launch(int number, uint64_t launch);
bool rex_await_launch_for(int number, uint64_t launch, int milliseconds);
static inline void rex_await_deferred(int number)
{
    if (rex_is_deferred(number))
        rex_await_launch(number, rex_deferred_newest(number));
}
void rex_await_all_deferred(void);

/*
 * libomptarget has used a device. LLVM 24 makes an object then that closes host images at the end
 * of the process: the gate closes before that.
 */
extern bool rex_gate_is_watched; /* atomic */
void rex_gate_watch(void);
static inline void rex_gate_used(void)
{
    /* Relaxed: a thread that misses it finds out in rex_gate_watch(). */
    if (__builtin_expect(!__atomic_load_n(&rex_gate_is_watched, __ATOMIC_RELAXED), 0))
        rex_gate_watch();
}

#endif
