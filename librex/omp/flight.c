/*
 * flight.c - calls of libomptarget that are in flight: which threads are inside it.
 *
 * A registration raises `gate`, forgets the launches that may begin without a question, and then
 * reads the depth of each thread. A thread counts itself first and reads `gate` afterwards. So at
 * least one of the two sees the other. While another thread is inside, the registration lowers the
 * gate again. So a launch waits for a registration at work, never for one that waits for launches.
 * Otherwise a kernel whose threads launch would wait for a registration that waits for the kernel.
 *
 * librex's own calls of libomptarget are counted. The forwarders are jumps and count nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/flight.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/thread.h"

__thread struct rex_flight rex_flight;
extern __thread struct rex_flight rex_flight_again __attribute__((__alias__("rex_flight")));

/* Guards the list of threads and `holder`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rex_flight *all;
static uint64_t numbers_now, devices_now; /* set by rex_flight_devices(); atomic */
static const struct rex_flight *holder;   /* the thread that registers or ends a module */
static bool gate;                         /* no thread may enter; atomic */
static int closed; /* REX_EFORK or REX_EINVAL: no thread may enter any more */

/* ---- the threads ----------------------------------------------------------------------------- */

/* Called at the end of the thread. */
static void unlist(void)
{
    if (!rex_flight.is_listed)
        return;
    pthread_mutex_lock(&lock);
    struct rex_flight **link = &all;
    while (*link != &rex_flight)
        link = &(*link)->next;
    *link = rex_flight.next;
    pthread_mutex_unlock(&lock);
    rex_flight = (struct rex_flight){0};
}

static int list(struct rex_flight *own)
{
    if (!own->is_listed) {
        if (!rex_thread_is_watched())
            return rex_fail_memory(sizeof *own, "a thread that launches");
        pthread_mutex_lock(&lock);
        own->next = all;
        own->is_listed = true;
        all = own;
        pthread_mutex_unlock(&lock);
    }
    /* Relaxed: a thread that reads an old number asks again in its next call. Devices only come. */
    own->numbers = __atomic_load_n(&numbers_now, __ATOMIC_RELAXED);
    /* Relaxed: as above. */
    own->devices = __atomic_load_n(&devices_now, __ATOMIC_RELAXED);
    return REX_OK;
}

void rex_flight_devices(uint64_t numbers, uint64_t count)
{
    /* Relaxed: the numbers stand for themselves. */
    __atomic_store_n(&numbers_now, numbers, __ATOMIC_RELAXED);
    /* Relaxed: as above. */
    __atomic_store_n(&devices_now, count, __ATOMIC_RELAXED);
}

/* ---- in and out ------------------------------------------------------------------------------ */

static bool gate_is_up(void)
{
    return __atomic_load_n(&gate, __ATOMIC_SEQ_CST);
}

static void set_gate(bool up)
{
    __atomic_store_n(&gate, up, __ATOMIC_SEQ_CST);
}

static void nap(long microseconds)
{
    struct timespec time = {0, microseconds * 1000};
    nanosleep(&time, NULL);
}

bool rex_flight_is_torn(void)
{
    return __atomic_load_n(&closed, __ATOMIC_ACQUIRE) == REX_EFORK;
}

bool rex_flight_is_over(void)
{
    return __atomic_load_n(&closed, __ATOMIC_ACQUIRE) == REX_EINVAL;
}

int rex_flight_check(void)
{
    if (rex_flight_is_torn())
        return rex_fail(REX_EFORK, "this process was forked while another thread of its parent was "
                                   "inside libomptarget: start the child with exec, or fork while "
                                   "no other thread launches or maps");
    if (rex_flight_is_over())
        return rex_fail(REX_EINVAL, "the process is ending, and libomptarget with it: do this "
                                    "before main() returns or exit() is called");
    /* In the last round of a thread's destructors unlist() has run and will not run again. */
    if (rex_thread_is_over())
        return rex_fail(REX_EINVAL, REX_THREAD_IS_OVER);
    return REX_OK;
}

static void wait_for_gate(void)
{
    while (gate_is_up())
        nap(20);
}

int rex_flight_join(void)
{
    int result = rex_flight_check();
    if (result == REX_OK)
        result = list(&rex_flight);
    if (result != REX_OK)
        return result;
    while (__atomic_fetch_add(&rex_flight.depth, 1, __ATOMIC_SEQ_CST) == 0 && gate_is_up()) {
        rex_flight_end();
        wait_for_gate();
    }
    return REX_OK;
}

/* ---- alone ----------------------------------------------------------------------------------- */

static bool is_anybody_inside(void)
{
    for (const struct rex_flight *flight = all; flight != NULL; flight = flight->next)
        if (flight != &rex_flight && __atomic_load_n(&flight->depth, __ATOMIC_SEQ_CST) > 0)
            return true;
    return false;
}

/*
 * Whether no other thread is inside. The gate is up, so that none can come in. Launches are
 * forgotten twice, because a launch that was inside when the gate went up may have been remembered
 * since.
 */
static bool is_alone(void)
{
    rex_launches_forget();
    if (is_anybody_inside())
        return false;
    rex_launches_forget();
    return !is_anybody_inside();
}

#define FIRST_NAP 50 /* microseconds; each is twice as long as the one before */
#define LONGEST_NAP 10000
#define QUIET_TRIES 4  /* after so many tries the gate stays up during every other nap */
#define TOLD_AFTER 120 /* tries, about a second; then the wait is logged */
#define TRIES 6000     /* about a minute */

/* The caller holds the lock. KEEP: the gate stays up if this fails. */
static bool try_alone(bool keep)
{
    if (holder != NULL)
        return false;
    set_gate(true);
    if (is_alone()) {
        holder = &rex_flight;
        return true;
    }
    set_gate(keep);
    return false;
}

_Static_assert(TRIES % 2 == 0, "the last try leaves the gate down");

static bool become_alone(const char *what)
{
    bool is_held = false;
    long time = FIRST_NAP;
    for (int i = 0; i < TRIES; i++) {
        bool keep = i >= QUIET_TRIES && i % 2 == 0;
        pthread_mutex_lock(&lock);
        is_held = try_alone(keep);
        pthread_mutex_unlock(&lock);
        if (is_held)
            return true;
        if (i == TOLD_AFTER)
            rex_log(REX_LOG_INFO, "%s: waiting for launches and data calls of other threads", what);
        nap(time);
        time = 2 * time < LONGEST_NAP ? 2 * time : LONGEST_NAP;
    }
    return false;
}

int rex_flight_check_outside(const char *what)
{
    return !rex_flight_is_inside() ? REX_OK
                                   : rex_fail(REX_EBUSY,
                                              "%s: a module is neither registered nor ended inside "
                                              "of a launch, a data call or another registration",
                                              what);
}

int rex_flight_register(const char *what)
{
    int result = rex_flight_check_outside(what);
    if (result == REX_OK)
        result = rex_flight_check();
    if (result == REX_OK)
        result = list(&rex_flight);
    if (result != REX_OK)
        return result;
    if (!become_alone(what))
        return rex_fail(REX_EBUSY,
                        "%s: launches or data calls of other threads have not ended in "
                        "a minute, and no module is registered or ended beside them",
                        what);
    rex_flight_begin();
    return REX_OK;
}

void rex_flight_registered(void)
{
    rex_flight_end();
    pthread_mutex_lock(&lock);
    holder = NULL;
    set_gate(false);
    pthread_mutex_unlock(&lock);
}

/* ---- the end of the process ------------------------------------------------------------------ */

static void close_at_exit(void)
{
    pthread_mutex_lock(&lock);
    if (closed == REX_OK)
        __atomic_store_n(&closed, REX_EINVAL, __ATOMIC_SEQ_CST);
    rex_launches_forget();
    pthread_mutex_unlock(&lock);
}

/* atexit() runs the last registered handler first: handlers of the program may still launch. */
void rex_flight_watch_exit(void)
{
    static bool is_watched;
    if (!__atomic_exchange_n(&is_watched, true, __ATOMIC_ACQ_REL))
        atexit(close_at_exit);
}

/* ---- fork ------------------------------------------------------------------------------------ */

static bool gate_before, was_inside;

/*
 * Runs with all locks of librex held: each other thread is counted, or it is outside and stays
 * there.
 */
static void look(void)
{
    gate_before = gate_is_up();
    set_gate(true);
    was_inside = !is_alone() || (holder != NULL && holder != &rex_flight);
}

static void go_on(void)
{
    set_gate(gate_before);
}

/* The forking thread goes on in the child, even inside a kernel or a registration. */
static void begin_in_child(void)
{
    all = rex_flight.is_listed ? &rex_flight : NULL;
    rex_flight.next = NULL;
    if (was_inside)
        __atomic_store_n(&closed, REX_EFORK, __ATOMIC_RELEASE);
    rex_launches_forget();
    if (holder != &rex_flight)
        holder = NULL;
    set_gate(holder != NULL);
}

REX_FORK_TAKEN(70, begin_in_child);

__attribute__((constructor(1001))) static void begin(void)
{
    rex_fork_look(look, go_on);
    rex_thread_on_end(unlist);
}
