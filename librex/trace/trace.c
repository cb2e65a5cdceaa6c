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
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/settings.h"
#include "trace/tracefile.h"
#include "trace/traceline.h"
#include "trace/tracesum.h"

enum { OFF, TO_FILE, SUMMARY };

int rex_tracing;
__thread unsigned rex_trace_depth;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below, and of file and summary */
static char setting[REX_SETTING_MAX];
static bool forked;          /* the file is the parent's; this process has none yet */
static unsigned process = 1; /* changes in a child, where every track is announced anew */

static __thread struct rex_track own; /* the calling thread's */

uint64_t rex_trace_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

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

static void put_name(const char *what, uint32_t id, const char *name, bool first)
{
    struct rex_line line = {.text = rex_trace_file_room()};
    if (line.text == NULL)
        return;
    rex_line_add(&line,
                 "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%ld,\"tid\":%lu,\"args\":{\"name\":",
                 first ? "" : ",", what, (long)getpid(), (unsigned long)id);
    rex_line_string(&line, name);
    rex_line_add(&line, "}}\n");
    rex_trace_file_wrote(line.length, rex_trace_clock());
}

static void announce(struct rex_track *track)
{
    char name[128] = "";
    if (track->announced == process)
        return;
    track->announced = process;
    rex_track_label(track, name, sizeof name);
    put_name("thread_name", track->id, name, false);
}

/* ---- slices ---------------------------------------------------------------------------------- */

static int open_file(void)
{
    if (rex_trace_file_open(setting, forked) != 0)
        return -1;
    forked = false;
    put_name("process_name", (uint32_t)getpid(), program_invocation_short_name, true);
    return 0;
}

/* CATEGORY is the slice's own, or its device's. */
static void put_head(struct rex_line *line, const struct rex_slice *slice, uint32_t track,
                     const char *category)
{
    rex_line_text(line, ",{\"ph\":\"X\",\"cat\":\"");
    rex_line_text(line, category);
    rex_line_text(line, "\",\"pid\":");
    rex_line_number(line, getpid());
    rex_line_text(line, ",\"tid\":");
    rex_line_number(line, track);
    rex_line_text(line, ",\"ts\":");
    rex_line_time(line, slice->begin);
    rex_line_text(line, ",\"dur\":");
    rex_line_time(line, slice->end - slice->begin);
    rex_line_text(line, ",\"name\":");
    rex_line_string(line, slice->name);
}

static void put_bytes(struct rex_line *line, const struct rex_slice *slice, bool first)
{
    if (slice->counted != REX_COUNTED_KERNEL && slice->counted != REX_COUNTED_TRANSFER)
        return;
    rex_line_text(line, first ? "\"bytes_to\":" : ",\"bytes_to\":");
    rex_line_number(line, (int64_t)slice->to);
    rex_line_text(line, ",\"bytes_from\":");
    rex_line_number(line, (int64_t)slice->from);
}

/* WHOLE: with its details; a device's track has none. */
static void put_slice(const struct rex_slice *slice, struct rex_track *track, bool whole)
{
    bool detailed = whole && slice->details != NULL;
    announce(track);
    struct rex_line line = {.text = rex_trace_file_room()};
    if (line.text == NULL)
        return;
    put_head(&line, slice, track->id, whole ? slice->category : "device");
    rex_line_text(&line, ",\"args\":{");
    if (detailed)
        slice->details(&line, slice->context);
    put_bytes(&line, slice, !detailed);
    rex_line_text(&line, "}}\n");
    if (!line.full)
        rex_trace_file_wrote(line.length, slice->end);
}

static void write_slice(const struct rex_slice *slice)
{
    if (forked && open_file() != 0) {
        __atomic_store_n(&rex_tracing, OFF, __ATOMIC_RELAXED);
        return;
    }
    if (own.id == 0)
        own.id = (uint32_t)syscall(SYS_gettid);
    put_slice(slice, slice->track != NULL ? slice->track : &own, true);
    if (slice->on != NULL)
        put_slice(slice, (struct rex_track *)(uintptr_t)slice->on, false);
}

void rex_trace_slice(const struct rex_slice *slice)
{
    int error = errno;
    rex_lock(&lock);
    if (rex_tracing == TO_FILE)
        write_slice(slice);
    else if (rex_tracing == SUMMARY && slice->counted != REX_COUNTED_NOWHERE)
        rex_summary_add(slice);
    rex_unlock(&lock);
    errno = error;
}

/* ---- begin, fork, end ------------------------------------------------------------------------ */

/*
 * What the parent has collected is the parent's. A file is opened when there is something to write.
 */
static void begin_in_child(void)
{
    if (rex_tracing == OFF)
        return;
    if (rex_tracing == TO_FILE) {
        rex_trace_file_forget();
        forked = true;
    }
    rex_summary_forget();
    process++;
    own = (struct rex_track){0};
    rex_track_forget();
}

/* The lowest rank of those that are taken: the details of a slice are asked for under this lock. */
REX_FORK_TAKEN(52, begin_in_child);

static void start(void)
{
    enum rex_trace_to to = rex_setting_trace(setting);
    if (to == REX_TRACE_NOWHERE)
        return;
    rex_lock(&lock);
    int how = to == REX_TRACE_SUMMARY ? SUMMARY : open_file() == 0 ? TO_FILE : OFF;
    __atomic_store_n(&rex_tracing, how, __ATOMIC_RELAXED);
    rex_unlock(&lock);
}

void rex_trace_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    rex_log_hold(); /* others may wait */
    pthread_once(&once, start);
    rex_log_resume();
}

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
    if (rex_tracing == SUMMARY)
        rex_summary_print();
    else if (!forked)
        rex_trace_file_close();
    __atomic_store_n(&rex_tracing, OFF, __ATOMIC_RELAXED);
    rex_unlock(&lock);
}

/* ---- tracks: their numbers and names --------------------------------------------------------- */

/* Linux gives threads numbers up to 2^22 (PID_MAX_LIMIT): a track above that is no thread's. */
#define DEVICE_TRACKS (UINT32_C(1) << 23)
#define QUEUE_TRACKS (UINT32_C(1) << 24)
#define DEVICES 64
#define LANES 32 /* of a device, on which as many threads may call at once */

static struct rex_track lanes[DEVICES][LANES];
static uint32_t busy[DEVICES]; /* a bit for each lane */

uint32_t rex_track_queue(void)
{
    static uint32_t queues;
    return QUEUE_TRACKS + __atomic_fetch_add(&queues, 1, __ATOMIC_RELAXED);
}

struct rex_track *rex_track_take(int64_t number)
{
    if (number < 0 || number >= DEVICES)
        return NULL;
    uint32_t taken = __atomic_load_n(&busy[number], __ATOMIC_RELAXED);
    while (taken != UINT32_MAX) {
        uint32_t lane = (uint32_t)__builtin_ctz(~taken);
        if (__atomic_compare_exchange_n(&busy[number], &taken, taken | UINT32_C(1) << lane, 0,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            lanes[number][lane].id = DEVICE_TRACKS + (uint32_t)number * LANES + lane;
            return &lanes[number][lane];
        }
    }
    return NULL;
}

void rex_track_give(struct rex_track *track)
{
    if (track == NULL)
        return;
    uint32_t at = track->id - DEVICE_TRACKS;
    __atomic_fetch_and(&busy[at / LANES], ~(UINT32_C(1) << at % LANES), __ATOMIC_RELEASE);
}

void rex_track_forget(void)
{
    memset(busy, 0, sizeof busy);
}

void rex_track_label(const struct rex_track *track, char *name, size_t size)
{
    uint32_t at = track->id - DEVICE_TRACKS;
    if (track->name != NULL)
        snprintf(name, size, "%s", track->name);
    else if (track->id < DEVICE_TRACKS && (track->id == (uint32_t)getpid() ||
                                           pthread_getname_np(pthread_self(), name, size) != 0))
        snprintf(name, size, "main thread");
    else if (track->id >= DEVICE_TRACKS)
        snprintf(name, size, at % LANES == 0 ? "device %u" : "device %u (%u)",
                 (unsigned)(at / LANES), (unsigned)(at % LANES + 1));
}

/* ---- what is noted by those who do it -------------------------------------------------------- */

static void put_object(struct rex_line *line, const void *object)
{
    rex_line_add(line, "\"object\":");
    rex_line_string(line, object);
}

void rex_phase_took(uint64_t begin, const char *name, const char *object)
{
    struct rex_slice slice = {.name = name,
                              .category = "phase",
                              .counted = REX_COUNTED_PHASE,
                              .begin = begin,
                              .end = rex_trace_clock()};
    if (object != NULL) {
        slice.details = put_object;
        slice.context = object;
    }
    rex_trace_slice(&slice);
}

static void put_device(struct rex_line *line, const void *number)
{
    rex_line_add(line, "\"device\":%d", *(const int *)number);
}

void rex_copy_took(uint64_t begin, uint64_t size, bool to_host, int number)
{
    struct rex_slice slice = {.name = to_host ? "copy from device" : "copy to device",
                              .category = "data",
                              .counted = REX_COUNTED_TRANSFER,
                              .begin = begin,
                              .end = rex_trace_clock(),
                              .details = put_device,
                              .context = &number};
    if (rex_trace_depth > 0)
        return;
    slice.to = to_host ? 0 : size;
    slice.from = to_host ? size : 0;
    slice.on = rex_track_take(number);
    rex_trace_slice(&slice);
    rex_track_give((struct rex_track *)(uintptr_t)slice.on);
}
