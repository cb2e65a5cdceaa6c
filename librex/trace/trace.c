/*
 * trace.c - writes the trace: a timeline in a file, or a summary on standard error.
 *
 * Memory is bounded: one buffer for the file, one table for the summary, and a buffer of one line
 * for each thread.
 *
 * The file is a JSON array of Chrome's trace events, one event in each line. librex collects events
 * in one buffer, and writes the buffer when it is full or 10 ms old. Only whole lines are written.
 * So the file of a killed process lacks only the closing bracket, which the format allows. Each
 * event after the first begins with a comma, so the array becomes strict JSON if a bracket is
 * appended.
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
#define LANES 32 /* maximum number of tracks of a device; each shows one call at a time */

static struct {
    const char *(*name_of_key)(const void *key); /* atomic */
    uint32_t queues;                             /* number of queues' tracks; atomic */
    struct rex_track lanes[DEVICES][LANES];      /* `is_taken` is atomic */

    /* The output lock guards the fields below and the summary. */
    bool is_started;
    char pattern[REX_SETTING_MAX]; /* pattern of the file's name (REX_TRACE) */
    struct rex_output file;        /* opened at the start; closed after an error */
    /* this process is a child of fork that has not opened a file of its own */
    bool is_parents;
    off_t whole; /* number of bytes of the whole lines in the file */
    char buffer[65536];
    size_t used;         /* bytes of the buffer in use */
    uint64_t written_at; /* time of the last write, in nanoseconds of CLOCK_MONOTONIC */
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

/*
 * First IDs of the tracks of devices, and of queues. No thread has these IDs, because Linux thread
 * IDs are below 2^22 (PID_MAX_LIMIT).
 */
#define DEVICE_TRACKS (UINT32_C(1) << 23)
#define QUEUE_TRACKS (UINT32_C(1) << 24)

uint32_t rex_track_queue(void)
{
    /* Relaxed: the addition is atomic, so each ID is unique. No other data depend on it. */
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

/*
 * A new event causes a write of the buffer if the last write is at least this many nanoseconds ago.
 */
#define OLD UINT64_C(10000000)

static void warn_of_trace(int error)
{
    rex_log(REX_LOG_WARN,
            "%s: %.1000s cannot be written: %s; the program continues without a trace",
            rex_settings[REX_OPTION_TRACE].variable, trace.file.name, rex_output_why(error));
}

/*
 * Returns REX_OUTPUT_LOCKED if another process has locked the file, otherwise 0. If flock() fails
 * with an error other than EWOULDBLOCK, the file system has no locks. In this case the trace
 * continues without a lock.
 */
static int lock_trace_file(void)
{
    bool is_locked = flock(trace.file.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    return is_locked ? REX_OUTPUT_LOCKED : 0;
}

/*
 * Opens and locks the file again, because the program has closed the descriptor. The close dropped
 * the lock, so another process may have written to the file meanwhile. If the file's size has
 * changed, librex ends the trace.
 */
static int reopen_trace_file(void)
{
    struct stat status;
    int error = rex_output_reopen(&trace.file, true);
    if (error != 0 || !S_ISREG(trace.file.status.st_mode))
        return error;
    error = lock_trace_file();
    if (error == 0 && (fstat(trace.file.descriptor, &status) != 0 || status.st_size != trace.whole))
        error = REX_OUTPUT_WRITTEN;
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
        /* Cuts the file after the last whole line that was written. */
        const char *end = memrchr(trace.buffer, '\n', done);
        off_t length = trace.whole + (end != NULL ? end + 1 - trace.buffer : 0);
        if (rex_output_is_open(&trace.file) && ftruncate(trace.file.descriptor, length) != 0)
            rex_log(REX_LOG_DEBUG,
                    "the trace %s ends with half a line, which could not be removed: %s",
                    trace.file.name, strerror(errno));
        warn_of_trace(error);
        rex_output_close(&trace.file);
    }
    trace.whole += (off_t)done;
}

/*
 * Returns an empty line in the buffer. If the file is closed, marks the line as full, so that
 * end_trace_line() does not add the line to the buffer.
 */
static struct rex_line new_trace_line(void)
{
    if (sizeof trace.buffer - trace.used < REX_LINE_MAX)
        write_buffer();
    return (struct rex_line){.text = trace.buffer + trace.used, .full = trace.file.descriptor < 0};
}

/*
 * Adds LINE to the buffer, unless LINE is full. Then writes the buffer if the last write is at
 * least OLD nanoseconds before NOW.
 */
static void end_trace_line(const struct rex_line *line, uint64_t now)
{
    trace.used += line->full ? 0 : line->length;
    if (now - trace.written_at < OLD)
        return;
    write_buffer();
    trace.written_at = now;
}

/* ---- the file: events ------------------------------------------------------------------------ */

/*
 * Writes NAME as the name of the process, or of the track with the number ID. HEAD is the beginning
 * of the line, with "process_name" or "thread_name".
 */
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

/*
 * Writes SLICE as an event on TRACK with DETAILS. If TRACK is the track of a device, DETAILS is
 * NULL.
 */
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

/*
 * Opens the trace file. Logs a warning and returns false on failure. Adds the process ID to the
 * name of the file in two cases:
 * - This process is a child of fork, and the name has no %p.
 * - Another process has locked the file.
 */
static bool open_trace_file(void)
{
    bool add_number = trace.is_parents && !trace.file.is_numbered;
    int error = REX_OUTPUT_LOCKED;
    for (int tries = 0; tries < 2 && error == REX_OUTPUT_LOCKED; tries++, add_number = true) {
        if (tries > 0)
            rex_log(
                REX_LOG_INFO,
                "%s: another process writes to %s; the number of this process is added to the name",
                rex_settings[REX_OPTION_TRACE].variable, trace.file.name);
        error = rex_output_open(&trace.file, trace.pattern, add_number);
        /* Only regular files are locked and truncated, not pipes and devices. */
        if (error == 0 && S_ISREG(trace.file.status.st_mode)) {
            error = lock_trace_file();
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

/* A thread's own track and buffer. */
struct own {
    struct rex_track track;
    char text[REX_LINE_MAX]; /* the details of a slice */
};

/* Writes the name of TRACK to the file, if this process has not written the name yet. */
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

/*
 * Calls SLICE's `details` before it takes the output lock, because `details` may take locks that
 * must be taken before the output lock.
 */
void rex_trace_slice(const struct rex_slice *slice)
{
    int error = errno;
    /*
     * Relaxed: the code below reads the value again under the lock. If this value is old, the slice
     * may be missing in the trace.
     */
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
        /*
         * Relaxed: a thread that reads an old value without the lock reads the value again under
         * the lock. If open_trace_file() fails, announce_track() and write_event() write nothing,
         * because no file is open.
         */
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
        /*
         * Relaxed: a thread that reads the old value without the lock does not trace its call. All
         * other data are read under the lock.
         */
        __atomic_store_n(&rex_tracing, to, __ATOMIC_RELAXED);
        trace.is_started = true;
    }
    rex_output_unlock();
}

/* Discards the parent's events in the child. The child opens a file for its first slice. */
static void begin_trace_in_child(void)
{
    if (rex_tracing == REX_TRACE_TO_FILE) {
        /* the file stays locked, because the parent has it open, too */
        rex_output_close(&trace.file);
        trace.used = 0;
        trace.is_parents = true;
    }
    if (rex_tracing == REX_TRACE_SUMMARY)
        rex_summary_forget();
    struct own *own = rex_part_if_any(REX_PART_TRACK);
    if (own != NULL)
        own->track = (struct rex_track){0};
    memset(trace.lanes, 0, sizeof trace.lanes); /* no call is in flight in the child */
}

REX_FORK_WATCHED(97, NULL, NULL, begin_trace_in_child);

/* Ends the trace, after the program's atexit() functions and the last deferred launches. */
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
    /*
     * Relaxed: a thread that reads an old value calls rex_trace_slice(), which reads the value
     * again under the lock.
     */
    __atomic_store_n(&rex_tracing, REX_TRACE_NOWHERE, __ATOMIC_RELAXED);
    rex_output_unlock();
}
