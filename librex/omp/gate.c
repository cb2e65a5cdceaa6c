/*
 * gate.c - the gate: it counts calls to libomptarget in flight, and can keep threads outside.
 *
 * The gate is up while a thread keeps the others outside. A registration raises the gate, and then
 * reads the count of each thread. A thread that enters increments its count, and then reads the
 * gate. So at least one of the two threads detects the other.
 *
 * If another thread is inside, the registration sleeps (a nap) and tries again. The registration
 * lowers the gate before each of the first naps, and later before every second nap. So while the
 * registration still waits, a launch waits for at most one nap. When the registration runs, a
 * launch waits until the registration ends.
 *
 * A longer wait could be a deadlock: a kernel on the host may have threads that launch. Such a
 * launch would wait for the registration, the registration for the kernel, and the kernel for the
 * launch.
 *
 * The count of each thread is in its TLS, so that a launch counts itself by one instruction. A
 * shared counter would cost four instructions more, because each thread would still need its own
 * nesting depth.
 *
 * The gate counts librex's calls to libomptarget. Unless there is an OMPT tool (calls/calls.c), the
 * gate counts the program's calls to forwarders, too. A nested call of a thread always passes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/gate.h"

#include <stdlib.h>
#include <time.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"

int rex_gate_closed;

/*
 * The thread that has raised the gate. This thread forks, registers a module or ends a module.
 * While the gate is up, other threads wait before they enter. NULL: the gate is down. Atomic.
 * Written under rex_threads_lock().
 */
static const struct rex_thread *gate;

/* ---- entering and leaving -------------------------------------------------------------------- */

/*
 * Returns true if another thread has raised the gate. The thread that has raised the gate may pass:
 * a registration calls the program's log function, which can launch kernels.
 */
static bool is_kept_out(void)
{
    const struct rex_thread *keeper = __atomic_load_n(&gate, __ATOMIC_SEQ_CST);
    return keeper != NULL && keeper != &rex_thread;
}

/*
 * noinline: if the compiler inlined this function, `time` would give each caller a stack guard,
 * even if the caller does not nap.
 */
static __attribute__((noinline)) void nap(long microseconds)
{
    struct timespec time = {0, microseconds * 1000};
    nanosleep(&time, NULL);
}

int rex_gate_check(void)
{
    int reason = __atomic_load_n(&rex_gate_closed, __ATOMIC_ACQUIRE);
    if (reason == REX_EFORK)
        return rex_fail(REX_EFORK, "this process was forked while another thread of its parent was "
                                   "inside libomptarget: start the child with exec, or fork while "
                                   "no other thread launches or maps");
    if (reason == REX_EINVAL)
        return rex_fail(REX_EINVAL, "the process is ending, and libomptarget with it: use librex "
                                    "before main() returns or exit() is called");
    if (rex_thread.listed != NULL || rex_thread_list())
        return REX_OK;
    /* A thread that runs its last destructors cannot be added to the list of threads again. */
    return rex_thread_is_over() ? rex_fail(REX_EINVAL, REX_THREAD_IS_OVER)
                                : rex_fail_memory(sizeof rex_thread, "a thread that launches");
}

static void pass_gate(void)
{
    while (__atomic_fetch_add(&rex_thread.calls->inside, 1, __ATOMIC_SEQ_CST) == 0 &&
           is_kept_out()) {
        __atomic_fetch_sub(&rex_thread.calls->inside, 1, __ATOMIC_RELEASE);
        while (is_kept_out())
            nap(20);
    }
    rex_shelter_begin();
}

/*
 * Increments `inside` of the thread first, and then checks that the gate is not closed. If another
 * thread ends the process, that thread closes the gate first, and then reads `inside` of each
 * thread. So at least one of the two threads detects the other.
 */
static bool pass_open_gate(void)
{
    pass_gate();
    if (__builtin_expect(__atomic_load_n(&rex_gate_closed, __ATOMIC_SEQ_CST) == 0, 1))
        return true;
    rex_gate_leave();
    return false;
}

int rex_gate_enter(void)
{
    int result = rex_gate_check();
    if (result != REX_OK)
        return result;
    return pass_open_gate() ? REX_OK : rex_gate_check();
}

bool rex_gate_is_closed(void)
{
    return rex_thread.calls->inside == 0 && (rex_gate_is_torn() || rex_gate_is_over());
}

bool rex_gate_try_raw(void)
{
    if (rex_gate_is_closed())
        return false;
    if (rex_thread.listed == NULL)
        rex_thread_list();
    if (rex_thread.calls->inside == 0)
        return pass_open_gate();
    pass_gate();
    return true;
}

int rex_gate_enter_raw(void)
{
    return rex_gate_try_raw() ? REX_OK : rex_gate_check();
}

void rex_gate_leave(void)
{
    REX_ASSERT(rex_thread.calls->inside > 0);
    __atomic_fetch_sub(&rex_thread.calls->inside, 1, __ATOMIC_RELEASE);
    rex_shelter_end();
}

uint32_t rex_gate_pause(void)
{
    uint32_t depth = rex_thread.calls->inside;
    if (depth == 0)
        return 0;
    __atomic_fetch_add(&rex_thread.calls->paused, depth, __ATOMIC_SEQ_CST);
    __atomic_store_n(&rex_thread.calls->inside, 0, __ATOMIC_SEQ_CST);
    return depth;
}

void rex_gate_resume(uint32_t depth)
{
    if (depth == 0)
        return;
    REX_ASSERT(rex_thread.calls->inside == 0 && rex_thread.calls->paused >= depth);
    pass_gate();
    /*
     * pass_gate() has called rex_shelter_begin() (base/process.h), although the call made before
     * rex_gate_pause() is still in effect. So undo one of the two calls.
     */
    rex_shelter_end();
    __atomic_fetch_add(&rex_thread.calls->inside, depth - 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&rex_thread.calls->paused, depth, __ATOMIC_RELEASE);
}

bool rex_await_launch_for(int number, uint64_t launch, int milliseconds)
{
    uint32_t depth = rex_gate_pause();
    bool is_done = rex_deferred_poll(number, launch, milliseconds);
    rex_gate_resume(depth);
    return is_done;
}

void rex_await_launch(int number, uint64_t launch)
{
    rex_await_launch_for(number, launch, 0);
}

void rex_await_all_deferred(void)
{
    uint32_t depth = rex_gate_pause();
    rex_deferred_wait_all();
    rex_gate_resume(depth);
}

/* ---- registrations --------------------------------------------------------------------------- */

#define FIRST_NAP 50 /* microseconds; each nap is twice as long as the nap before */
#define LONGEST_NAP 10000
/*
 * A registration raises the gate. If another thread is inside, the registration lowers the gate,
 * naps and tries again. From try number QUIET_TRIES on, it lowers the gate only before every second
 * nap.
 */
#define QUIET_TRIES 4
#define TOLD_AFTER 120 /* number of tries before the log reports the wait, after about a second */
#define TRIES 6000     /* maximum number of tries, about a minute */

_Static_assert(TRIES % 2 == 0, "the last try leaves the gate down");

int rex_gate_check_outside(const char *what)
{
    if (rex_thread.calls->inside == 0 && rex_thread.calls->paused == 0 && !rex_thread.in_function)
        return REX_OK;
    return rex_fail(REX_EBUSY,
                    "module %s cannot be registered or ended inside a launch, a data call, another "
                    "registration or the log callback",
                    what);
}

/*
 * Raises the gate while no other thread is inside, and counts this thread as inside. Waits for at
 * most about a minute for other threads to leave.
 */
int rex_gate_register(const char *what, bool ends)
{
    long time = FIRST_NAP;
    int result = rex_gate_check_outside(what);
    if (result == REX_OK)
        result = rex_gate_check();
    if (result != REX_OK)
        return result;
    for (int i = 0; i < TRIES; i++) {
        bool is_alone = false;
        rex_threads_lock();
        if (!is_kept_out()) {
            __atomic_store_n(&gate, &rex_thread, __ATOMIC_SEQ_CST);
            is_alone = !rex_threads_are_inside(ends);
            if (is_alone)
                __atomic_fetch_add(&rex_thread.calls->inside, 1, __ATOMIC_SEQ_CST);
            else if (i < QUIET_TRIES || i % 2 != 0)
                __atomic_store_n(&gate, NULL, __ATOMIC_SEQ_CST);
        }
        rex_threads_unlock();
        if (is_alone)
            return REX_OK;
        if (i == TOLD_AFTER)
            rex_log(REX_LOG_INFO,
                    "device image %s: the %s of its module waits for launches and data calls of "
                    "other threads",
                    what, ends ? "end" : "registration");
        nap(time);
        time = 2 * time < LONGEST_NAP ? 2 * time : LONGEST_NAP;
    }
    return rex_fail(
        REX_EBUSY,
        "device image %s: launches or data calls of other threads have not ended within a minute, "
        "and a module can be registered or ended only between them",
        what);
}

#define EXIT_NAP 1000 /* microseconds */
#define EXIT_NAPS 1000

/*
 * Closes the gate and waits for calls in flight, because later atexit() handlers destroy objects
 * that these calls use. The wait has a limit, because a kernel may never end.
 */
static void close_at_exit(void)
{
    if (rex_gate_is_torn() || rex_gate_is_over())
        return;
    __atomic_store_n(&rex_gate_closed, REX_EINVAL, __ATOMIC_SEQ_CST);
    for (int i = 0; i < EXIT_NAPS; i++) {
        rex_threads_lock();
        bool are_inside = rex_threads_are_inside(false);
        rex_threads_unlock();
        if (!are_inside)
            break;
        nap(EXIT_NAP);
    }
    rex_deferred_exit();
}

bool rex_gate_is_watched;

void rex_gate_watch(void)
{
    if (!__atomic_exchange_n(&rex_gate_is_watched, true, __ATOMIC_RELAXED))
        atexit(close_at_exit);
}

void rex_gate_registered(void)
{
    /* Needs no lock, because only one thread at a time is in a registration. */
    static bool exit_is_watched;
    REX_ASSERT(rex_thread.calls->inside == 1);
    /*
     * atexit() handlers run in reverse order. A handler that the program adds later runs before the
     * gate is closed. Such a handler can launch kernels.
     */
    if (!exit_is_watched)
        exit_is_watched = atexit(close_at_exit) == 0;
    __atomic_fetch_sub(&rex_thread.calls->inside, 1, __ATOMIC_RELEASE);
    rex_threads_lock();
    REX_ASSERT(gate == &rex_thread);
    __atomic_store_n(&gate, NULL, __ATOMIC_SEQ_CST);
    rex_threads_unlock();
}

/* ---- forks ----------------------------------------------------------------------------------- */

static const struct rex_thread *gate_before; /* value of `gate` before the fork */
static bool was_inside;                      /* another thread was inside at the fork */

/*
 * Runs after rex_threads_lock() and before fork(). From then on, a thread that wants to enter waits
 * until the gate is down.
 */
static void raise_gate_at_fork(void)
{
    gate_before = gate;
    __atomic_store_n(&gate, &rex_thread, __ATOMIC_SEQ_CST);
    was_inside = rex_threads_are_inside(false);
}

static void lower_gate_after_fork(void)
{
    __atomic_store_n(&gate, gate_before, __ATOMIC_SEQ_CST);
}

/*
 * If the thread that called fork() had raised the gate for a registration, the registration
 * continues in the child. So the gate stays up in the child.
 */
static void close_gate_in_child(void)
{
    if (was_inside)
        __atomic_store_n(&rex_gate_closed, REX_EFORK, __ATOMIC_RELEASE);
    if (gate_before != &rex_thread)
        __atomic_store_n(&gate, NULL, __ATOMIC_SEQ_CST);
}

REX_FORK_WATCHED(99, raise_gate_at_fork, lower_gate_after_fork, close_gate_in_child);
