/*
 * gate.h - the gate: it counts calls to libomptarget in flight, and can keep threads outside.
 *
 * Each thread has its own count, so no thread waits for a shared counter. A thread counts its
 * launches, data calls and lookups of mappings, and the program's calls to forwarders. A
 * registration waits until all counts are 0, because libomptarget crashes if a launch runs during a
 * registration. A fork also reads all counts: if another thread was inside libomptarget, the child
 * must not call libomptarget.
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
 * Call rex_gate_enter() before each call to libomptarget, and rex_gate_leave() after the call.
 * Before a registration, call rex_gate_register() instead. rex_gate_enter() may wait for a
 * registration, except inside another call. rex_gate_enter() returns the result of
 * rex_gate_check(). If the result is not 0, do not call rex_gate_leave().
 *
 * A cancelled thread does not end between rex_gate_enter() and rex_gate_leave(). A thread that
 * ended in a read() or write() of libomptarget or the driver would never release its locks.
 */
int rex_gate_enter(void);
void rex_gate_leave(void);

/*
 * Enters the gate for a call by the program, or by libomptarget through a forwarder. Returns 0 on
 * success. If the gate is closed, returns REX_EFORK or REX_EINVAL (rex_gate_closed). But a call
 * inside another call enters even if the gate is closed. If the gate is not closed, even a thread
 * that is not in the list of threads enters. Such a thread is ending, or there was no memory to add
 * it to the list.
 */
int rex_gate_enter_raw(void);

/* Like rex_gate_enter_raw(), but sets no error. Returns false if the gate is closed. */
bool rex_gate_try_raw(void);

/* Returns true if rex_gate_enter_raw() would fail now. */
bool rex_gate_is_closed(void);

/*
 * Returns 0, or sets an error and returns it:
 * - REX_EFORK: this process was forked while another thread was inside libomptarget;
 * - REX_EINVAL: the process or this thread is ending;
 * - REX_ENOMEM: there is no memory to add this thread to the list of threads.
 */
int rex_gate_check(void);

/*
 * The reason why the gate is closed. A closed gate is closed for all threads, and never opens
 * again. Atomic.
 * - REX_EFORK ("torn"): the process was forked while another thread was inside libomptarget;
 * - REX_EINVAL ("over"): the process is ending;
 * - 0: the gate is not closed.
 */
extern int rex_gate_closed;
static inline bool rex_gate_is_torn(void)
{
    return __atomic_load_n(&rex_gate_closed, __ATOMIC_ACQUIRE) == REX_EFORK;
}
static inline bool rex_gate_is_over(void)
{
    return __atomic_load_n(&rex_gate_closed, __ATOMIC_ACQUIRE) == REX_EINVAL;
}

/*
 * Returns REX_EBUSY if this thread is inside a call or inside the log function of the program. Such
 * a thread cannot register or end a module. In any other case returns 0. The message calls the
 * module WHAT.
 */
int rex_gate_check_outside(const char *what);

/*
 * Call rex_gate_register() before the registration of the module WHAT, or before the end of the
 * module if ENDS is true. Call rex_gate_registered() after the registration or the end of the
 * module. Between the two functions no other thread is inside libomptarget. Every LLVM release
 * crashes if a launch runs during a registration. LLVM 14 to 18 crash if a thread loads a module
 * that another thread ends.
 *
 * rex_gate_register() returns 0, or an error of rex_gate_check_outside() or rex_gate_check(). It
 * returns REX_EBUSY if calls of other threads do not end within a minute.
 *
 * The first registration adds an atexit() handler, which closes the gate before libomptarget
 * destroys its objects. The handler waits up to a second for threads that are inside.
 */
int rex_gate_register(const char *what, bool ends);
void rex_gate_registered(void);

/*
 * rex_gate_pause() takes this thread out of the gate while its call waits for other calls.
 * Registrations and forks then need not wait for the call. rex_gate_resume() takes the result of
 * rex_gate_pause(), enters the gate again, and may wait for a registration. The call may keep
 * pointers into its module, because the end of a module also waits for paused calls.
 */
uint32_t rex_gate_pause(void);
void rex_gate_resume(uint32_t depth);

/*
 * These functions wait for deferred launches (cuda/deferred.h). A thread that is inside the gate
 * leaves the gate during the wait.
 * - rex_await_launch(): until LAUNCH on device NUMBER is done;
 * - rex_await_launch_for(): until LAUNCH is done, or for at most about MILLISECONDS. If
 *   MILLISECONDS is 0, the wait has no limit. Returns true if LAUNCH is done or the device is lost;
 * - rex_await_deferred(): until all launches on device NUMBER are done;
 * - rex_await_all_deferred(): until all launches on all devices are done.
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
 * Call rex_gate_used() after libomptarget has first used a device. In LLVM 24 the first use creates
 * an object that closes host images at the end of the process. rex_gate_watch() then adds an
 * atexit() handler that closes the gate before that object is destroyed.
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
