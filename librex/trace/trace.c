/*
 * trace.c - what crossed the boundary: a timeline in a file, or a summary on standard error.
 *
 * Nothing here is called where nothing is traced: forward.c points its table at tracing functions
 * only if REX_TRACE is set. Memory is bounded: one buffer for the file, one table for the summary,
 * whatever the program does.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "trace/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/thread.h"
#include "trace/tracefile.h"
#include "trace/tracesum.h"

enum rex_trace_to rex_tracing;
__thread unsigned rex_trace_depth;

/* Of what is traced, the file and the summary. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- names of kernels ------------------------------------------------------------------------ */

static const char *(*name_of_key)(const void *key);

void rex_trace_names(const char *(*name_of)(const void *key))
{
    __atomic_store_n(&name_of_key, name_of, __ATOMIC_RELEASE);
}

const char *rex_trace_name(const void *key)
{
    const char *(*name_of)(const void *) = __atomic_load_n(&name_of_key, __ATOMIC_ACQUIRE);
    return name_of != NULL ? name_of(key) : NULL;
}

/* ---- tracks ---------------------------------------------------------------------------------- */

/* Linux gives threads numbers up to 2^22 (PID_MAX_LIMIT): a track above that is no thread's. */
#define DEVICE_TRACKS (UINT32_C(1) << 23)
#define QUEUE_TRACKS (UINT32_C(1) << 24)
#define DEVICES 64
#define LANES 32 /* of a device, on which as many threads may call at once */

static struct rex_track lanes[DEVICES][LANES];

uint32_t rex_track_queue(void)
{
    static uint32_t queues;
    /* Relaxed: a number that nobody else has is all that is asked. */
    return QUEUE_TRACKS + __atomic_fetch_add(&queues, 1, __ATOMIC_RELAXED);
}

struct rex_track *rex_track_take(int64_t number)
{
    for (uint32_t i = 0; number >= 0 && number < DEVICES && i < LANES; i++) {
        struct rex_track *lane = &lanes[number][i];
        if (__atomic_exchange_n(&lane->is_taken, true, __ATOMIC_ACQUIRE))
            continue;
        lane->id = DEVICE_TRACKS + (uint32_t)number * LANES + i;
        return lane;
    }
    return NULL;
}

void rex_track_drop(struct rex_track *track)
{
    if (track != NULL)
        __atomic_store_n(&track->is_taken, false, __ATOMIC_RELEASE);
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* The calling thread's; NULL where there is no memory for one. */
static struct rex_track *own_track(void)
{
    struct rex_track *own = rex_part(REX_PART_TRACK, sizeof *own);
    if (own != NULL && own->id == 0)
        own->id = (uint32_t)syscall(SYS_gettid);
    return own;
}

/* The name of TRACK goes to the file once, and to a child's file again. */
static void announce(struct rex_track *track)
{
    char name[128];
    unsigned process = rex_forks() + 1, at = track->id - DEVICE_TRACKS;
    if (track->process == process)
        return;
    track->process = process;
    if (track->name != NULL)
        snprintf(name, sizeof name, "%s", track->name);
    else if (track->id >= DEVICE_TRACKS)
        snprintf(name, sizeof name, at % LANES == 0 ? "device %u" : "device %u (%u)", at / LANES,
                 at % LANES + 1);
    else if (track->id == (uint32_t)getpid() ||
             pthread_getname_np(pthread_self(), name, sizeof name) != 0)
        snprintf(name, sizeof name, "main thread");
    rex_trace_file_track(track->id, name);
}

static void write_slice(const struct rex_slice *slice)
{
    struct rex_track *track = slice->track != NULL ? slice->track : own_track();
    if (track == NULL)
        return;
    if (!rex_trace_file_open_in_child()) {
        /* Relaxed: a thread may see it a call late; what is written is decided under the lock. */
        __atomic_store_n(&rex_tracing, REX_TRACE_NOWHERE, __ATOMIC_RELAXED);
        return;
    }
    announce(track);
    rex_trace_file_slice(slice, track->id, false);
    if (slice->on == NULL)
        return;
    announce(slice->on);
    rex_trace_file_slice(slice, slice->on->id, true);
}

void rex_trace_slice(const struct rex_slice *slice)
{
    int error = errno;
    rex_lock(&lock);
    if (rex_tracing == REX_TRACE_TO_FILE)
        write_slice(slice);
    else if (rex_tracing == REX_TRACE_SUMMARY && slice->counted != REX_COUNTED_NOWHERE)
        rex_summary_add(slice);
    rex_unlock(&lock);
    errno = error;
}

/* ---- phases and copies ----------------------------------------------------------------------- */

static void write_object(struct rex_line *line, const void *object)
{
    rex_line_string(line, "\"object\":", object);
}

void rex_phase_took(uint64_t begin, const char *name, const char *object)
{
    struct rex_slice slice = {.name = name,
                              .category = "phase",
                              .counted = REX_COUNTED_PHASE,
                              .begin = begin,
                              .end = rex_trace_clock(),
                              .details = object != NULL ? write_object : NULL,
                              .context = object};
    rex_trace_slice(&slice);
}

static void write_device(struct rex_line *line, const void *number)
{
    rex_line_number(line, "\"device\":", *(const int *)number);
}

void rex_copy_took(uint64_t begin, enum rex_copied copied, uint64_t size, int number)
{
    static const char *const names[] = {[REX_COPIED_TO] = "copy to device",
                                        [REX_COPIED_FROM] = "copy from device",
                                        [REX_COPIED_BETWEEN] = "copy between devices"};
    if (begin == 0 || rex_trace_depth > 0)
        return;
    struct rex_slice slice = {.name = names[copied],
                              .category = "data",
                              .counted = REX_COUNTED_TRANSFER,
                              .begin = begin,
                              .end = rex_trace_clock(),
                              .to = copied == REX_COPIED_TO ? size : 0,
                              .from = copied == REX_COPIED_FROM ? size : 0,
                              .on = rex_track_take(number),
                              .details = write_device,
                              .context = &number};
    rex_trace_slice(&slice);
    rex_track_drop(slice.on);
}

/* ---- begin, fork, end ------------------------------------------------------------------------ */

void rex_trace_start(void)
{
    static bool is_started;
    char file[REX_SETTING_MAX];
    rex_lock(&lock);
    if (!is_started) {
        enum rex_trace_to to = rex_setting_trace(file);
        if (to == REX_TRACE_TO_FILE && !rex_trace_file_open(file))
            to = REX_TRACE_NOWHERE;
        /* Relaxed: the lock guards all that a trace needs; this says only whether to ask for it. */
        __atomic_store_n(&rex_tracing, to, __ATOMIC_RELAXED);
        is_started = true;
    }
    rex_unlock(&lock);
}

/* What the parent has collected is the parent's. A file is opened with the child's first slice. */
static void begin_in_child(void)
{
    if (rex_tracing == REX_TRACE_TO_FILE)
        rex_trace_file_forget();
    if (rex_tracing == REX_TRACE_SUMMARY)
        rex_summary_forget();
    struct rex_track *own = rex_part_if_any(REX_PART_TRACK);
    if (own != NULL)
        *own = (struct rex_track){0};
    memset(lanes, 0, sizeof lanes); /* a child uses no device */
}

/* The lowest rank of those that are taken: the details of a slice are asked for under this lock. */
REX_FORK_TAKEN(52, begin_in_child);

/* Not for ever: exit() may come from a signal's handler, in the midst of what holds the lock. */
static bool lock_for_the_end(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    rex_log_hold();
    if (pthread_mutex_timedlock(&lock, &until) == 0)
        return true;
    rex_log_resume();
    return false;
}

/* After what the program has for its end by atexit(). */
__attribute__((destructor)) static void finish(void)
{
    if (!rex_trace_on() || !lock_for_the_end())
        return;
    if (rex_tracing == REX_TRACE_SUMMARY)
        rex_summary_print();
    else
        rex_trace_file_close();
    /* Relaxed: a thread may see it a call late; what is written is decided under the lock. */
    __atomic_store_n(&rex_tracing, REX_TRACE_NOWHERE, __ATOMIC_RELAXED);
    rex_unlock(&lock);
}
