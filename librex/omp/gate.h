/*
 * gate.h - the gate: it counts calls of libomptarget in flight, and can keep threads out.
 *
 * Each thread counts its own launches, data calls and lookups of mappings, and the program's calls
 * of the forwarders, so that no thread waits for another. A registration reads all counts before it
 * registers or ends a module, because libomptarget crashes if a launch runs at the same time. A
 * fork also reads all counts: the child cannot use data that another thread was changing.
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
 * Call these around each call of libomptarget except a registration (rex_gate_register()).
 * rex_gate_enter() may wait for a registration, but not inside another call. It returns the result
 * of rex_gate_check(); call rex_gate_leave() only after 0. A cancelled thread does not end between
 * the two, because libomptarget and the driver may call read() or write() under a lock.
 */
int rex_gate_enter(void);
void rex_gate_leave(void);

/*
 * rex_gate_enter() for a call by the program, or by libomptarget through a forwarder. A call inside
 * another call always enters. A thread also enters if there is no memory to put it in the list of
 * threads, or if it is ending. Returns 0, or REX_EFORK or REX_EINVAL if the gate is closed.
 */
int rex_gate_enter_raw(void);

/* Calls rex_gate_enter_raw() without setting an error. Returns false if the gate is closed. */
bool rex_gate_try_raw(void);

/* Returns true if rex_gate_enter_raw() would fail now. */
bool rex_gate_is_closed(void);

/*
 * Returns 0 or an error:
 * REX_EFORK: this process was forked while another thread was inside libomptarget;
 * REX_EINVAL: the process or this thread is ending;
 * REX_ENOMEM: there is no memory to put this thread in the list of threads.
 */
int rex_gate_check(void);

/* torn: forked while another thread was inside libomptarget; over: the process is ending. */
extern int rex_gate_closed; /* 0: open; REX_EFORK: torn; REX_EINVAL: over; atomic */
static inline bool rex_gate_is_torn(void)
{
    return __atomic_load_n(&rex_gate_closed, __ATOMIC_ACQUIRE) == REX_EFORK;
}
static inline bool rex_gate_is_over(void)
{
    return __atomic_load_n(&rex_gate_closed, __ATOMIC_ACQUIRE) == REX_EINVAL;
}

/*
 * Returns 0, or REX_EBUSY if this thread is inside a call or the program's log function: then it
 * cannot register or end a module. WHAT, the module's name, begins the message.
 */
int rex_gate_check_outside(const char *what);

/*
 * Call these around the registration of the module named WHAT, or around its end if ENDS is set. No
 * other thread is inside libomptarget between them: every release crashes if a registration meets a
 * launch (14 to 18 if a thread loads a module that another thread ends). rex_gate_register()
 * returns 0, an error of rex_gate_check_outside() or rex_gate_check(), or REX_EBUSY if calls of
 * other threads do not end in a minute.
 *
 * The first registration adds an atexit() handler that closes the gate, before libomptarget
 * destroys its objects. It waits up to a second for threads that are inside.
 */
int rex_gate_register(const char *what, bool ends);
void rex_gate_registered(void);

/*
 * rex_gate_pause() takes a call that waits for other calls out of the gate until rex_gate_resume(),
 * so that a registration and a fork need not wait. The call may keep pointers into its module: the
 * end of a module also waits for paused calls. rex_gate_resume() takes the result of
 * rex_gate_pause(), and may wait for a registration.
 */
uint32_t rex_gate_pause(void);
void rex_gate_resume(uint32_t depth);

/*
 * These wait for deferred launches: for LAUNCH on device NUMBER, for all launches on it, or for
 * those on all devices. A thread that is inside the gate leaves it for that time.
 * rex_await_launch_for() waits about MILLISECONDS at most (0: no limit), and returns true if the
 * launch is done.
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
 * Call rex_gate_used() after libomptarget has first used a device. In LLVM 24 that first use makes
 * an object that closes host images at the end of the process. rex_gate_watch() registers an
 * atexit() handler that closes the gate before that.
 */
extern bool rex_gate_is_watched; /* atomic */
void rex_gate_watch(void);
static inline void rex_gate_used(void)
{
    /* Relaxed: rex_gate_watch() does nothing if another thread has called it. */
    if (__builtin_expect(!__atomic_load_n(&rex_gate_is_watched, __ATOMIC_RELAXED), 0))
        rex_gate_watch();
}

#endif
