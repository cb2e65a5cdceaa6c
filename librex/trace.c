/*
 * trace.c - what crossed the boundary: a timeline in a file, or a summary on standard error.
 *
 * Nothing here is called where nothing is traced: forward.c points its table at tracing functions only if REX_TRACE is set.
 * Memory is bounded: one buffer for the file, one table for the summary, whatever the program does.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "trace.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "log.h"
#include "tracefile.h"
#include "traceline.h"
#include "tracesum.h"

enum { OFF, TO_FILE, SUMMARY };

int rex_tracing;
__thread const char *rex_trace_called;
__thread unsigned rex_trace_depth;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below, and of file and summary */
static char setting[REX_CONFIG_MAX];
static bool forked;           /* the file is the parent's; this process has none yet */
static unsigned process = 1;  /* changes in a child, where every track is announced anew */
static uint32_t queues;

static __thread struct rex_track own; /* the calling thread's */

uint64_t rex_trace_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- names of kernels ----------------------------------------------------------------------------------------------------------------- */

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

/* ---- tracks ----------------------------------------------------------------------------------------------------------------------------- */

/* Linux gives threads numbers up to 2^22 (PID_MAX_LIMIT): a track above that is no thread's. */
#define DEVICE_TRACKS (UINT32_C(1) << 23)
#define QUEUE_TRACKS (UINT32_C(1) << 24)
#define DEVICES 64
#define LANES 32 /* of a device, on which as many threads may call at once */

static struct rex_track lanes[DEVICES][LANES];
static uint32_t busy[DEVICES]; /* a bit for each lane */

uint32_t rex_track_queue(void)
{
    return QUEUE_TRACKS + __atomic_fetch_add(&queues, 1, __ATOMIC_RELAXED);
}

struct rex_track *rex_track_take(int64_t number)
{
    if (number < 0 || number >= DEVICES)
        return NULL;
    uint32_t taken = __atomic_load_n(&busy[number], __ATOMIC_RELAXED);
    while (taken != UINT32_MAX) {
        uint32_t lane = (uint32_t)__builtin_ctz(~taken);
        if (__atomic_compare_exchange_n(&busy[number], &taken, taken | UINT32_C(1) << lane, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
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

static void name_track(const struct rex_track *track, char *name, size_t size)
{
    uint32_t at = track->id - DEVICE_TRACKS;
    if (track->name != NULL)
        snprintf(name, size, "%s", track->name);
    else if (track->id < DEVICE_TRACKS && (track->id == (uint32_t)getpid() || pthread_getname_np(pthread_self(), name, size) != 0))
        snprintf(name, size, "main thread");
    else if (track->id >= DEVICE_TRACKS)
        snprintf(name, size, at % LANES == 0 ? "device %u" : "device %u (%u)", (unsigned)(at / LANES), (unsigned)(at % LANES + 1));
}

static void put_name(const char *what, uint32_t id, const char *name, bool first)
{
    struct rex_line line = {.text = rex_trace_file_room()};
    if (line.text == NULL)
        return;
    rex_line_add(&line, "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%ld,\"tid\":%lu,\"args\":{\"name\":", first ? "" : ",", what, (long)getpid(),
                 (unsigned long)id);
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
    name_track(track, name, sizeof name);
    put_name("thread_name", track->id, name, false);
}

/* ---- slices ----------------------------------------------------------------------------------------------------------------------------- */

static int open_file(void)
{
    if (rex_trace_file_open(setting, forked) != 0)
        return -1;
    forked = false;
    put_name("process_name", (uint32_t)getpid(), program_invocation_short_name, true);
    return 0;
}

/* Times are microseconds with three digits behind the point: nanoseconds. */
static void put_slice(const struct rex_slice *slice, struct rex_track *track, bool whole)
{
    announce(track);
    struct rex_line line = {.text = rex_trace_file_room()};
    uint64_t took = slice->end - slice->begin;
    if (line.text == NULL)
        return;
    rex_line_add(&line, ",{\"ph\":\"X\",\"cat\":\"%s\",\"pid\":%ld,\"tid\":%lu,\"ts\":%llu.%03u,\"dur\":%llu.%03u,\"name\":",
                 whole ? slice->category : "device", (long)getpid(), (unsigned long)track->id, (unsigned long long)(slice->begin / 1000),
                 (unsigned)(slice->begin % 1000), (unsigned long long)(took / 1000), (unsigned)(took % 1000));
    rex_line_string(&line, slice->name);
    rex_line_add(&line, ",\"args\":{");
    if (whole && slice->details != NULL)
        slice->details(&line, slice->context);
    if (slice->counted == REX_COUNTED_KERNEL || slice->counted == REX_COUNTED_TRANSFER)
        rex_line_add(&line, "%s\"bytes_to\":%llu,\"bytes_from\":%llu", whole && slice->details != NULL ? "," : "", (unsigned long long)slice->to,
                     (unsigned long long)slice->from);
    rex_line_add(&line, "}}\n");
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

/* ---- begin, fork, end -------------------------------------------------------------------------------------------------------------------- */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&lock);
}

/* What the parent has collected is the parent's. A file is opened when there is something to write. */
static void in_child(void)
{
    if (rex_tracing == TO_FILE) {
        rex_trace_file_forget();
        forked = true;
    }
    rex_summary_forget();
    process++;
    own = (struct rex_track){0};
    memset(busy, 0, sizeof busy);
    pthread_mutex_unlock(&lock);
}

static void start(void)
{
    if (!rex_config(REX_OPTION_TRACE, setting))
        return;
    rex_lock(&lock);
    int how = strcmp(setting, "-") == 0 ? SUMMARY : open_file() == 0 ? TO_FILE : OFF;
    if (how != OFF)
        pthread_atfork(before_fork, in_parent, in_child);
    __atomic_store_n(&rex_tracing, how, __ATOMIC_RELAXED);
    rex_unlock(&lock);
}

void rex_trace_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    rex_log_hold(); /* others may wait */
    pthread_once(&once, start);
    rex_log_release();
}

/* After what the program has for its end by atexit(). */
__attribute__((destructor)) static void finish(void)
{
    if (!rex_trace_on())
        return;
    rex_lock(&lock);
    if (rex_tracing == SUMMARY)
        rex_summary_print();
    else if (!forked)
        rex_trace_file_close();
    __atomic_store_n(&rex_tracing, OFF, __ATOMIC_RELAXED);
    rex_unlock(&lock);
}
