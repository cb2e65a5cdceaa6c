/*
 * trace.c - what crossed the boundary: a timeline in a file, or a summary on standard error.
 *
 * Nothing here is called where nothing is traced: forward.c points its table at tracing functions
 * only if REX_TRACE is set. Memory is bounded: one buffer for the file, one table for the summary,
 * whatever the program does.
 *
 * The file has Chrome's trace events, as a JSON array with one event in each line. Events are
 * collected in one buffer, which is written when it is full or 10 ms old. Only whole lines are
 * written, so that a killed process leaves an array that lacks its closing bracket, which the
 * format allows. Every line but the first begins with a comma: with a bracket at its end such a
 * file is strict JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "trace/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "trace/tracetext.h"

enum rex_trace_to rex_tracing;
__thread unsigned rex_trace_depth;

#define DEVICES 64
#define LANES 32 /* of a device, on which as many threads may call at once */

static struct {
    /* All three by atomics. */
    const char *(*name_of_key)(const void *key);
    uint32_t queues; /* tracks of queues */
    struct rex_track lanes[DEVICES][LANES];

    /* Under the output's lock, like the summary. */
    bool is_started;
    char pattern[REX_SETTING_MAX]; /* of the file's name */
    struct rex_output file; /* opened before it is used; then without one nothing is written */
    bool is_parents;        /* in a child of fork that has no file yet */
    off_t whole;            /* bytes of whole lines in the file */
    char buffer[65536];
    size_t used; /* bytes of it */
    uint64_t written_at;
} trace;

/* ---- names of kernels ------------------------------------------------------------------------ */

void rex_trace_names(const char *(*name_of)(const void *key))
{
    __atomic_store_n(&trace.name_of_key, name_of, __ATOMIC_RELEASE);
}

const char *rex_trace_name(const void *key)
{
    const char *(*name_of)(const void *) = __atomic_load_n(&trace.name_of_key, __ATOMIC_ACQUIRE);
    return name_of != NULL ? name_of(key) : NULL;
}

/* ---- tracks ---------------------------------------------------------------------------------- */

/* Linux gives threads numbers up to 2^22 (PID_MAX_LIMIT): a track above that is no thread's. */
#define DEVICE_TRACKS (UINT32_C(1) << 23)
#define QUEUE_TRACKS (UINT32_C(1) << 24)

uint32_t rex_track_queue(void)
{
    /* Relaxed: a number that nobody else has is all that is asked. */
    return QUEUE_TRACKS + __atomic_fetch_add(&trace.queues, 1, __ATOMIC_RELAXED);
}

struct rex_track *rex_track_take(int64_t number)
{
    for (uint32_t i = 0; number >= 0 && number < DEVICES && i < LANES; i++) {
        struct rex_track *lane = &trace.lanes[number][i];
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

/* ---- the file -------------------------------------------------------------------------------- */

#define OLD UINT64_C(10000000) /* nanoseconds after which an event does not wait for others */

static void warn_of_trace(int error)
{
    rex_log(REX_LOG_WARN, "%s: %.1000s cannot be written: %s; the program runs on without it",
            rex_settings[REX_OPTION_TRACE].variable, trace.file.name, rex_output_why(error));
}

/*
 * The program has closed the file, and with it the lock: it is still this trace if no process has
 * written to it since.
 */
static int reopen_trace_file(void)
{
    struct stat status;
    int error = rex_output_reopen(&trace.file, true);
    if (error != 0 || !S_ISREG(trace.file.status.st_mode))
        return error;
    /* On a file system without locks there is none. */
    if (flock(trace.file.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        error = EWOULDBLOCK;
    if (error == 0 && (fstat(trace.file.descriptor, &status) != 0 || status.st_size != trace.whole))
        error = REX_OUTPUT_REPLACED;
    if (error != 0)
        rex_output_close(&trace.file);
    return error;
}

static void write_buffer(void)
{
    size_t size = trace.used, done = 0;
    REX_ASSERT(size <= sizeof trace.buffer);
    trace.used = 0;
    if (trace.file.descriptor < 0)
        return;
    int error = rex_output_is_open(&trace.file) ? 0 : reopen_trace_file();
    if (error == 0)
        error = rex_file_write(trace.file.descriptor, trace.buffer, size, &done);
    if (error != 0) {
        /* The last whole line that was written ends the file. */
        const char *end = memrchr(trace.buffer, '\n', done);
        off_t length = trace.whole + (end != NULL ? end + 1 - trace.buffer : 0);
        if (rex_output_is_open(&trace.file) && ftruncate(trace.file.descriptor, length) != 0)
            rex_log(REX_LOG_DEBUG, "%s ends within a line: %s", trace.file.name, strerror(errno));
        warn_of_trace(error);
        rex_output_close(&trace.file);
    }
    trace.whole += (off_t)done;
}

/* An empty line in the buffer. Where there is no file any more it counts as full. */
static struct rex_line new_trace_line(void)
{
    if (sizeof trace.buffer - trace.used < REX_LINE_MAX)
        write_buffer();
    return (struct rex_line){.text = trace.buffer + trace.used, .full = trace.file.descriptor < 0};
}

/* LINE is complete, at the time NOW. One that was too long is left out. */
static void end_trace_line(const struct rex_line *line, uint64_t now)
{
    trace.used += line->full ? 0 : line->length;
    if (now - trace.written_at < OLD)
        return;
    write_buffer();
    trace.written_at = now;
}

/* ---- the file: events ------------------------------------------------------------------------ */

/* NAME is that of track ID, or of the process; HEAD is the beginning of the line, which says. */
static void write_name(const char *head, uint32_t id, const char *name)
{
    struct rex_line line = new_trace_line();
    rex_line_text(&line, head);
    rex_line_number(&line, "\",\"pid\":", getpid());
    rex_line_number(&line, ",\"tid\":", id);
    rex_line_string(&line, ",\"args\":{\"name\":", name);
    rex_line_text(&line, "}}\n");
    end_trace_line(&line, rex_trace_clock());
}

/* SLICE on TRACK, with its DETAILS; NULL: on that of a device, where it has none. */
static void write_event(const struct rex_slice *slice, uint32_t track,
                        const struct rex_line *details)
{
    bool on_device = details == NULL, is_detailed = !on_device && details->length > 0;
    struct rex_line line = new_trace_line();
    rex_line_text(&line, ",{\"ph\":\"X\",\"cat\":\"");
    rex_line_text(&line, on_device ? "device" : slice->category);
    rex_line_number(&line, "\",\"pid\":", getpid());
    rex_line_number(&line, ",\"tid\":", track);
    rex_line_time(&line, ",\"ts\":", slice->begin);
    rex_line_time(&line, ",\"dur\":", slice->end - slice->begin);
    rex_line_string(&line, ",\"name\":", slice->name);
    rex_line_text(&line, ",\"args\":{");
    if (is_detailed)
        rex_line_bytes(&line, details->text, details->length);
    line.full |= !on_device && details->full;
    if (slice->counted == REX_COUNTED_KERNEL || slice->counted == REX_COUNTED_TRANSFER) {
        rex_line_number(&line,
                        is_detailed ? ",\"bytes_to\":" : "\"bytes_to\":", (int64_t)slice->to);
        rex_line_number(&line, ",\"bytes_from\":", (int64_t)slice->from);
    }
    if (!on_device && slice->by != NULL) {
        rex_line_text(&line, ",\"by\":\"");
        rex_line_text(&line, slice->by);
        rex_line_text(&line, "\"");
        if (slice->because != NULL)
            rex_line_string(&line, ",\"because\":", slice->because);
    }
    if (slice->is_deferred)
        rex_line_text(&line, ",\"deferred\":true");
    rex_line_text(&line, "}}\n");
    end_trace_line(&line, slice->end);
}

/* ---- the file: opening ----------------------------------------------------------------------- */

/* A child of fork has its own number behind a name without one. */
static bool open_trace_file(void)
{
    bool add_number = trace.is_parents && !trace.file.is_numbered;
    int error = EWOULDBLOCK;
    for (int tries = 0; tries < 2 && error == EWOULDBLOCK; tries++, add_number = true) {
        if (tries > 0)
            rex_log(REX_LOG_INFO,
                    "%s: another process writes to %s; this one's number is added to the name",
                    rex_settings[REX_OPTION_TRACE].variable, trace.file.name);
        error = rex_output_open(&trace.file, trace.pattern, add_number);
        /* Pipes and devices are neither locked nor emptied. */
        if (error == 0 && S_ISREG(trace.file.status.st_mode)) {
            if (flock(trace.file.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
                error = EWOULDBLOCK;
            if (error == 0 && ftruncate(trace.file.descriptor, 0) != 0)
                error = errno;
        }
        if (error != 0)
            rex_output_close(&trace.file);
    }
    REX_ASSERT((error == 0) == (trace.file.descriptor >= 0));
    if (error != 0) {
        warn_of_trace(error);
        return false;
    }
    trace.is_parents = false;
    memcpy(trace.buffer, "[\n", 2);
    trace.used = 2;
    trace.whole = 0;
    trace.written_at = 0;
    write_name("{\"ph\":\"M\",\"name\":\"process_name", (uint32_t)getpid(),
               program_invocation_short_name);
    return true;
}

/* ---- slices ---------------------------------------------------------------------------------- */

struct own {
    struct rex_track track;
    char text[REX_LINE_MAX]; /* for the details of a slice */
};

/* The name of TRACK goes to the file once, and to a child's file again. */
static void announce_track(struct rex_track *track)
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
    write_name(",{\"ph\":\"M\",\"name\":\"thread_name", track->id, name);
}

/* Details are asked for before the lock is taken: they may take locks of lower ranks. */
void rex_trace_slice(const struct rex_slice *slice)
{
    int error = errno;
    /* Relaxed: as in rex_trace_on(). */
    bool to_file = __atomic_load_n(&rex_tracing, __ATOMIC_RELAXED) == REX_TRACE_TO_FILE;
    struct own *own = to_file ? rex_part(REX_PART_TRACK, sizeof *own) : NULL;
    struct rex_track *track = slice->track;
    struct rex_line details = {.text = NULL};
    if (own != NULL) {
        if (own->track.id == 0)
            own->track.id = (uint32_t)syscall(SYS_gettid);
        if (track == NULL)
            track = &own->track;
        details.text = own->text;
        if (slice->details != NULL)
            slice->details(&details, slice->context);
    }
    rex_output_lock();
    if (rex_tracing == REX_TRACE_TO_FILE && track != NULL) {
        /* Relaxed: a thread may see it a call late; without a file nothing is written. */
        if (trace.is_parents && !open_trace_file())
            __atomic_store_n(&rex_tracing, REX_TRACE_NOWHERE, __ATOMIC_RELAXED);
        announce_track(track);
        write_event(slice, track->id, &details);
        if (slice->on != NULL) {
            announce_track(slice->on);
            write_event(slice, slice->on->id, NULL);
        }
    } else if (rex_tracing == REX_TRACE_SUMMARY)
        rex_summary_add(slice);
    rex_output_unlock();
    errno = error;
}

/* ---- phases and copies ----------------------------------------------------------------------- */

static void write_object_detail(struct rex_line *line, const void *object)
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
                              .details = object != NULL ? write_object_detail : NULL,
                              .context = object};
    rex_trace_slice(&slice);
}

static void write_device_detail(struct rex_line *line, const void *number)
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
                              .details = write_device_detail,
                              .context = &number};
    rex_trace_slice(&slice);
    rex_track_drop(slice.on);
}

/* ---- begin, fork, end ------------------------------------------------------------------------ */

void rex_trace_start(void)
{
    rex_output_lock();
    if (!trace.is_started) {
        enum rex_trace_to to =
            (enum rex_trace_to)rex_setting_given(REX_OPTION_TRACE, trace.pattern);
        if (to == REX_TRACE_TO_FILE && !open_trace_file())
            to = REX_TRACE_NOWHERE;
        /* Relaxed: the lock guards all that a trace needs; this says only whether to ask for it. */
        __atomic_store_n(&rex_tracing, to, __ATOMIC_RELAXED);
        trace.is_started = true;
    }
    rex_output_unlock();
}

/* The parent keeps its events. A file is opened with the child's first slice. */
static void begin_trace_in_child(void)
{
    if (rex_tracing == REX_TRACE_TO_FILE) {
        rex_output_close(&trace.file); /* the lock stays with the parent */
        trace.used = 0;
        trace.is_parents = true;
    }
    if (rex_tracing == REX_TRACE_SUMMARY)
        rex_summary_forget();
    struct own *own = rex_part_if_any(REX_PART_TRACK);
    if (own != NULL)
        own->track = (struct rex_track){0};
    memset(trace.lanes, 0, sizeof trace.lanes); /* a child uses no device */
}

REX_FORK_WATCHED(97, NULL, NULL, begin_trace_in_child);

/* After what the program has for its end by atexit(), and after the last deferred launches. */
__attribute__((destructor)) static void finish_trace(void)
{
    if (!rex_trace_on() || !rex_output_lock_at_exit())
        return;
    if (rex_tracing == REX_TRACE_SUMMARY)
        rex_summary_print();
    else {
        struct rex_line line = new_trace_line();
        rex_line_text(&line, "]\n"); /* the end of the array */
        trace.used += line.full ? 0 : line.length;
        write_buffer();
        int error = rex_output_close(&trace.file);
        if (error != 0)
            warn_of_trace(error);
    }
    /* Relaxed: a thread may see it a call late; what is written is decided under the lock. */
    __atomic_store_n(&rex_tracing, REX_TRACE_NOWHERE, __ATOMIC_RELAXED);
    rex_output_unlock();
}
