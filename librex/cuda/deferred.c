/*
 * deferred.c - runs deferred launches in one stream for each device, and waits for them.
 *
 * A thread waits for a launch by an event that is recorded after the launch (cuda/marks.h). librex
 * records an event after every 64th launch. A thread that finds 256 launches pending waits for such
 * an event before it launches. If there is no event after a launch, the wait for that launch
 * records one.
 *
 * At most about 256 launches are pending. With four times as many, the driver would block the
 * thread that launches, while that thread holds the stream's lock.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/deferred.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "cuda/context.h"
#include "cuda/lost.h"
#include "cuda/marks.h"
#include "cuda/streamtrace.h"

#define PENDING_MOST 256
#define MARK_AFTER 64
/*
 * Size of the array `kernel`. Threads check PENDING_MOST without a lock, so each launching thread
 * can exceed PENDING_MOST by one launch. The array has room for NAMES - PENDING_MOST = 768 such
 * threads.
 */
#define NAMES 1024

struct deferred {
    pthread_mutex_t lock; /* guards the stream and all fields below */
    int ordinal;
    void *context, *stream; /* NULL: not made yet */
    /*
     * issued: number of the newest launch. seen: number of the newest launch that a wait has found
     * done. Both are also read without the lock.
     */
    uint64_t issued, seen;
    bool is_lost;                   /* also read without the lock */
    struct rex_stream_trace *trace; /* NULL: no trace */
    struct rex_mark mark[REX_MARKS];
    struct {
        const char *name;
        const struct rex_registration *registration;
    } kernel[NAMES]; /* index: the number of the launch modulo NAMES */
};

/*
 * The index is libomptarget's device number. The first launch on a device allocates the device's
 * struct. The pointers are atomic.
 */
static struct deferred *deferred[REX_CUDA_DEVICES_MAX];

uint64_t rex_deferred_devices;
static uint64_t stopped; /* bit N is set after rex_deferred_stop() for device N; atomic */

static void forget_stream(struct deferred *of)
{
    of->context = of->stream = NULL;
    of->seen = of->issued;
    memset(of->mark, 0, sizeof of->mark);
}

/* A child of fork cannot use the driver, and forgets all launches of its parent. */
static void forget_deferred(void)
{
    rex_deferred_devices = 0;
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++) {
        if (deferred[i] == NULL)
            continue;
        rex_fork_renew(&deferred[i]->lock);
        forget_stream(deferred[i]);
    }
}

REX_FORK_RENEWED(16, forget_deferred);

static struct deferred *find_deferred(int number)
{
    bool is_one = number >= 0 && number < REX_CUDA_DEVICES_MAX;
    return is_one ? __atomic_load_n(&deferred[number], __ATOMIC_ACQUIRE) : NULL;
}

static struct deferred *make_deferred(int number)
{
    struct deferred *none = NULL, *made = find_deferred(number);
    if (made != NULL || number < 0 || number >= REX_CUDA_DEVICES_MAX)
        return made;
    made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    pthread_mutex_init(&made->lock, NULL);
    made->ordinal = -1;
    if (__atomic_compare_exchange_n(&deferred[number], &none, made, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_ACQUIRE))
        return made;
    free(made);
    return none;
}

/* ---- under the lock -------------------------------------------------------------------------- */

static void set_devices(const struct deferred *of, int number)
{
    bool is_pending = of->issued != of->seen && !of->is_lost;
    if (is_pending)
        __atomic_fetch_or(&rex_deferred_devices, UINT64_C(1) << number, __ATOMIC_RELEASE);
    else
        __atomic_fetch_and(&rex_deferred_devices, ~(UINT64_C(1) << number), __ATOMIC_RELEASE);
}

static void note_seen(struct deferred *of, int number, uint64_t launch)
{
    REX_ASSERT(launch <= of->issued);
    if (launch <= of->seen)
        return;
    __atomic_store_n(&of->seen, launch, __ATOMIC_RELEASE);
    set_devices(of, number);
}

static void list_pending_kernels(const struct deferred *of, struct rex_kernel_list *list)
{
    for (uint64_t i = of->seen; i < of->issued; i++)
        rex_kernel_list_add(list, of->kernel[(i + 1) % NAMES].name, NULL);
}

/*
 * Marks the device as lost. Call this after a driver call has failed because the device's context
 * can no longer be used.
 */
static void lose_deferred(struct deferred *of, int number)
{
    struct rex_kernel_list list = {.count = 0};
    if (of->is_lost)
        return;
    list_pending_kernels(of, &list);
    rex_device_lose(of->ordinal, number, "a deferred launch", rex_cuda_why(), &list);
    __atomic_store_n(&of->is_lost, true, __ATOMIC_RELEASE);
    set_devices(of, number);
}

static void begin_deferred_trace(struct deferred *of, int number)
{
    char name[64];
    snprintf(name, sizeof name, "deferred launches (device %d)", number);
    of->trace = rex_stream_trace_new(&of->stream, name);
}

/*
 * Writes finished launches to the trace. A wait calls this function before it reports the launches
 * as done. After that report the program may unload a library, and the names of the library's
 * kernels are freed. The context must be current.
 */
static void write_done_launches(const struct deferred *of)
{
    if (REX_UNLIKELY(of->trace != NULL) && !of->is_lost)
        rex_stream_trace_write(of->trace);
}

static bool make_stream(struct deferred *of, int number, int ordinal)
{
    if (of->stream != NULL)
        return of->ordinal == ordinal;
    if (rex_context_retain(ordinal, &of->context) != 0)
        return false;
    if (!rex_cuda_has_made(REX_CUDA(cuStreamCreate, &of->stream, REX_CUDA_STREAM_NON_BLOCKING),
                           &of->stream)) {
        rex_context_drop(ordinal);
        return false;
    }
    of->ordinal = ordinal;
    if (rex_trace_on())
        begin_deferred_trace(of, number);
    return true;
}

/* ---- a launch -------------------------------------------------------------------------------- */

static void time_deferred_kernel(struct deferred *of, const char *name)
{
    const struct rex_slice slice = {
        .name = name, .category = "launch", .counted = REX_COUNTED_KERNEL, .is_deferred = true};
    rex_stream_trace_end(of->trace, &slice, 0);
}

void *rex_deferred_begin(int number, int ordinal)
{
    struct deferred *of = make_deferred(number);
    if (of == NULL)
        return NULL;
    pthread_mutex_lock(&of->lock);
    bool is_stopped = (__atomic_load_n(&stopped, __ATOMIC_SEQ_CST) >> number & 1) != 0;
    if (of->is_lost || is_stopped || !make_stream(of, number, ordinal)) {
        pthread_mutex_unlock(&of->lock);
        return NULL;
    }
    if (REX_UNLIKELY(of->trace != NULL)) {
        /*
         * rex_stream_trace_catch_up() may wait for the stream, while other threads wait for the
         * lock. So call the function only if the stream is idle.
         */
        if (of->issued == of->seen && rex_stream_trace_is_behind(of->trace))
            rex_stream_trace_catch_up(of->trace);
        rex_stream_trace_begin(of->trace);
    }
    return of->stream;
}

uint64_t rex_deferred_put(int number, const char *name, const struct rex_registration *registration,
                          int result)
{
    struct deferred *of = find_deferred(number);
    uint64_t launch = 0;
    if (result == 0) {
        launch = of->issued + 1;
        of->kernel[launch % NAMES].name = name;
        of->kernel[launch % NAMES].registration = registration;
        __atomic_store_n(&of->issued, launch, __ATOMIC_RELEASE);
        if (of->seen + 1 == launch) /* nothing was pending */
            set_devices(of, number);
        if (REX_UNLIKELY(of->trace != NULL))
            time_deferred_kernel(of, name);
        if (launch % MARK_AFTER == 0)
            rex_mark_make(of->mark, of->stream, launch);
    } else if (!rex_cuda_is_of_call(result))
        lose_deferred(of, number);
    pthread_mutex_unlock(&of->lock);
    return launch;
}

uint64_t rex_deferred_full(int number)
{
    const struct deferred *of = find_deferred(number);
    if (of == NULL || !rex_is_deferred(number))
        return 0;
    uint64_t seen = __atomic_load_n(&of->seen, __ATOMIC_ACQUIRE);
    uint64_t issued = __atomic_load_n(&of->issued, __ATOMIC_ACQUIRE);
    return issued - seen >= PENDING_MOST ? issued - PENDING_MOST / 2 : 0;
}

/* ---- waits ----------------------------------------------------------------------------------- */

uint64_t rex_deferred_newest(int number)
{
    const struct deferred *of = find_deferred(number);
    return of != NULL ? __atomic_load_n(&of->issued, __ATOMIC_ACQUIRE) : 0;
}

uint64_t rex_deferred_seen(int number)
{
    const struct deferred *of = find_deferred(number);
    if (of == NULL || __atomic_load_n(&of->is_lost, __ATOMIC_ACQUIRE))
        return UINT64_MAX;
    return __atomic_load_n(&of->seen, __ATOMIC_ACQUIRE);
}

bool rex_deferred_poll(int number, uint64_t launch, int milliseconds)
{
    struct deferred *of = find_deferred(number);
    if (of == NULL || launch <= rex_deferred_seen(number))
        return true;
    pthread_mutex_lock(&of->lock);
    int entered = rex_context_enter(of->context), result;
    struct rex_mark *mark = rex_mark_find(of->mark, of->stream, of->issued, launch);
    uint64_t done = mark != NULL ? mark->launch : of->issued;
    void *stream = of->stream;
    if (mark != NULL)
        mark->users++;
    pthread_mutex_unlock(&of->lock);
    if (milliseconds > 0)
        result = mark != NULL ? rex_mark_poll(mark, milliseconds) : REX_CUDA_NOT_READY;
    else if (mark != NULL)
        result = REX_CUDA(cuEventSynchronize, mark->event);
    else /* no mark: wait for all launches in the stream, even later ones */
        result = REX_CUDA(cuStreamSynchronize, stream);
    rex_lock(&of->lock);
    if (mark != NULL)
        mark->users--;
    if (result == 0) {
        write_done_launches(of);
        note_seen(of, number, done);
    } else if (result != REX_CUDA_NOT_READY)
        lose_deferred(of, number);
    rex_context_leave(entered);
    rex_unlock(&of->lock);
    return result != REX_CUDA_NOT_READY;
}

void rex_deferred_wait_for(int number, uint64_t launch)
{
    rex_deferred_poll(number, launch, 0);
}

void rex_deferred_wait_all(void)
{
    for (int i = 0; rex_is_any_deferred() && i < REX_CUDA_DEVICES_MAX; i++)
        if (rex_is_deferred(i))
            rex_deferred_wait_for(i, rex_deferred_newest(i));
}

__attribute__((constructor(1001))) static void watch_setting(void)
{
    rex_launches_became_blocking = rex_deferred_wait_all;
}

int rex_deferred_precede(int number, void *stream)
{
    struct deferred *of = find_deferred(number);
    void *event = NULL;
    if (of == NULL || !rex_is_deferred(number))
        return 0;
    pthread_mutex_lock(&of->lock);
    int entered = rex_context_enter(of->context), result = 0;
    const struct rex_mark *mark = rex_mark_make(of->mark, of->stream, of->issued);
    /*
     * A mark is an event after a launch (cuda/marks.h). MARK is NULL if threads wait for all marks,
     * or if the driver failed. In both cases record an event without a mark.
     */
    if (mark == NULL) {
        result = REX_CUDA(cuEventCreate, &event, REX_CUDA_EVENT_UNTIMED);
        if (rex_cuda_has_made(result, &event))
            result = REX_CUDA(cuEventRecord, event, of->stream);
    }
    rex_context_leave(entered);
    if (result == 0)
        result = REX_CUDA(cuStreamWaitEvent, stream, mark != NULL ? mark->event : event, 0);
    if (event != NULL)
        REX_CUDA(cuEventDestroy, event); /* STREAM still waits for the event */
    pthread_mutex_unlock(&of->lock);
    return result;
}

void rex_deferred_stop(int number)
{
    uint64_t devices = UINT64_MAX;
    if (number != REX_ANY_DEVICE)
        devices = number >= 0 && number < REX_CUDA_DEVICES_MAX ? UINT64_C(1) << number : 0;
    __atomic_fetch_or(&stopped, devices, __ATOMIC_SEQ_CST);
    /*
     * A launch that read `stopped` before the change holds the lock of its device until the launch
     * has a number. Lock and unlock each device once, to wait for such launches.
     */
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++) {
        struct deferred *of = __atomic_load_n(&deferred[i], __ATOMIC_SEQ_CST);
        if ((devices >> i & 1) == 0 || of == NULL)
            continue;
        pthread_mutex_lock(&of->lock);
        pthread_mutex_unlock(&of->lock);
    }
}

bool rex_deferred_runs(const struct rex_registration *registration)
{
    bool runs = false;
    for (int i = 0; rex_is_any_deferred() && i < REX_CUDA_DEVICES_MAX; i++) {
        struct deferred *of = find_deferred(i);
        if (of == NULL || !rex_is_deferred(i))
            continue;
        pthread_mutex_lock(&of->lock);
        for (uint64_t launch = of->seen; launch < of->issued; launch++)
            runs |= of->kernel[(launch + 1) % NAMES].registration == registration;
        pthread_mutex_unlock(&of->lock);
    }
    return runs;
}

void rex_deferred_kernels(int number, struct rex_kernel_list *list)
{
    struct deferred *of = find_deferred(number);
    if (of == NULL)
        return;
    pthread_mutex_lock(&of->lock);
    list_pending_kernels(of, list);
    pthread_mutex_unlock(&of->lock);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void end_stream(struct deferred *of)
{
    int entered = rex_context_enter(of->context);
    if (rex_marks_end(of->mark)) {
        rex_stream_trace_close(of->trace);
        free(of->trace);
        of->trace = NULL;
        REX_CUDA(cuStreamDestroy, of->stream);
        rex_context_drop(of->ordinal);
        forget_stream(of);
    }
    rex_context_leave(entered);
}

void rex_deferred_end(void)
{
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++) {
        struct deferred *of = find_deferred(i);
        if (of == NULL)
            continue;
        pthread_mutex_lock(&of->lock);
        if (of->stream != NULL && (of->seen == of->issued || of->is_lost))
            end_stream(of);
        pthread_mutex_unlock(&of->lock);
    }
}

#define EXIT_NAPS 1000

/*
 * Returns true if all kernels of device NUMBER are done, or if a kernel has failed. Returns false
 * if a kernel is pending, or if another thread holds the lock.
 */
static bool is_over(struct deferred *of, int number)
{
    rex_log_hold();
    if (pthread_mutex_trylock(&of->lock) != 0) {
        rex_log_resume();
        return false;
    }
    int entered = rex_context_enter(of->context);
    int found = rex_driver.cuStreamQuery(of->stream);
    if (found == 0) {
        if (of->trace != NULL && rex_output_lock_at_exit()) {
            write_done_launches(of);
            rex_output_unlock();
        }
        note_seen(of, number, of->issued);
    } else if (found != REX_CUDA_NOT_READY) {
        rex_cuda_note(found, "cuStreamQuery");
        lose_deferred(of, number);
    }
    rex_context_leave(entered);
    rex_unlock(&of->lock);
    return found != REX_CUDA_NOT_READY;
}

void rex_deferred_exit(void)
{
    const struct timespec nap = {0, 1000000};
    int naps = 0;
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++)
        while (rex_is_deferred(i) && !is_over(find_deferred(i), i) && naps++ < EXIT_NAPS)
            nanosleep(&nap, NULL);
    rex_device_log_losses();
}
