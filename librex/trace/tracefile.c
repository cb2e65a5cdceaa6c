/*
 * tracefile.c - the file of a timeline: Chrome's trace events, as a JSON array with one event in
 * each line.
 *
 * Events are collected in one buffer, which is written when it is full or 10 ms old. Only whole
 * lines are written, so that what a killed process leaves is an array that lacks its closing
 * bracket, which the format allows. Every line but the first begins with a comma: with a bracket at
 * its end such a file is strict JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "trace/tracefile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/output.h"
#include "base/settings.h"
#include "trace/traceline.h"

#define BUFFER_BYTES 65536
#define OLD UINT64_C(10000000) /* nanoseconds after which an event does not wait for others */

static char buffer[BUFFER_BYTES];
static size_t used; /* bytes of it */
static uint64_t written_at;
static struct rex_output file = {.descriptor = -1};
static bool is_open; /* else nothing is written any more */
static off_t whole;  /* bytes of whole lines in the file */
static char path[PATH_MAX];
static char pattern[REX_SETTING_MAX]; /* what the path is made of */
static bool is_parents;               /* in a child of fork that has no file yet */

static void warn(int error)
{
    rex_log(REX_LOG_WARN, "%s: %.1000s cannot be written: %s; the program runs on without it",
            rex_setting_variable(REX_OPTION_TRACE), path, rex_output_why(error));
}

/* ---- writing --------------------------------------------------------------------------------- */

/*
 * ERROR came after BYTES of the buffer were written: what is behind the last whole line is cut off,
 * and the file ends.
 */
static void give_up(size_t bytes, int error)
{
    const char *end = memrchr(buffer, '\n', bytes);
    whole += end != NULL ? end + 1 - buffer : 0;
    if (rex_output_is_open(&file) && ftruncate(file.descriptor, whole) != 0)
        rex_log(REX_LOG_DEBUG, "%s ends within a line: %s", path, strerror(errno));
    warn(error);
    rex_output_close(&file);
    is_open = false;
}

/* 0; EWOULDBLOCK: another process writes to it. Some file systems have no locks: nobody is asked.
 */
static int lock_file(void)
{
    return flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK ? EWOULDBLOCK : 0;
}

/*
 * The program has closed the file, and with it the lock: it is still this trace if nobody has
 * written to it since.
 */
static int open_again(void)
{
    struct stat status;
    int error = rex_output_reopen_same(&file);
    if (error != 0 || !S_ISREG(file.status.st_mode))
        return error;
    error = lock_file();
    if (error == 0 && (fstat(file.descriptor, &status) != 0 || status.st_size != whole))
        error = REX_OUTPUT_REPLACED;
    if (error != 0)
        rex_output_close(&file);
    return error;
}

static void write_all(void)
{
    size_t done = 0;
    int error = is_open && !rex_output_is_open(&file) ? open_again() : 0;
    if (is_open && error == 0)
        error = rex_file_write(file.descriptor, buffer, used, &done);
    if (error != 0)
        give_up(done, error);
    whole += is_open ? (off_t)used : 0;
    used = 0;
}

/* An empty line in the buffer. Where there is no file any more it counts as full. */
static struct rex_line new_line(void)
{
    if (sizeof buffer - used < REX_LINE_MAX)
        write_all();
    return (struct rex_line){.text = buffer + used, .full = !is_open};
}

/* LINE is complete, at the time NOW. One that was too long is left out. */
static void end_line(const struct rex_line *line, uint64_t now)
{
    used += line->full ? 0 : line->length;
    if (now - written_at < OLD)
        return;
    write_all();
    written_at = now;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The NAME of track ID, or of the process. */
static void write_name(const char *what, uint32_t id, const char *name, bool is_first)
{
    struct rex_line line = new_line();
    rex_line_add(&line,
                 "%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%ld,\"tid\":%lu,\"args\":{\"name\":",
                 is_first ? "" : ",", what, (long)getpid(), (unsigned long)id);
    rex_line_string(&line, name);
    rex_line_text(&line, "}}\n");
    end_line(&line, rex_trace_clock());
}

void rex_trace_file_track(uint32_t track, const char *name)
{
    write_name("thread_name", track, name, false);
}

/* CATEGORY is the slice's own, or its device's. */
static void write_head(struct rex_line *line, const struct rex_slice *slice, uint32_t track,
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

static void write_bytes(struct rex_line *line, const struct rex_slice *slice, bool is_first)
{
    if (slice->counted != REX_COUNTED_KERNEL && slice->counted != REX_COUNTED_TRANSFER)
        return;
    rex_line_text(line, is_first ? "\"bytes_to\":" : ",\"bytes_to\":");
    rex_line_number(line, (int64_t)slice->to);
    rex_line_text(line, ",\"bytes_from\":");
    rex_line_number(line, (int64_t)slice->from);
}

static void write_sender(struct rex_line *line, const struct rex_slice *slice)
{
    if (slice->by == NULL)
        return;
    rex_line_text(line, ",\"by\":\"");
    rex_line_text(line, slice->by);
    rex_line_text(line, "\"");
    if (slice->because == NULL)
        return;
    rex_line_text(line, ",\"because\":");
    rex_line_string(line, slice->because);
}

void rex_trace_file_slice(const struct rex_slice *slice, uint32_t track, bool on_device)
{
    bool is_detailed = !on_device && slice->details != NULL;
    struct rex_line line = new_line();
    write_head(&line, slice, track, on_device ? "device" : slice->category);
    rex_line_text(&line, ",\"args\":{");
    if (is_detailed)
        slice->details(&line, slice->context);
    write_bytes(&line, slice, !is_detailed);
    if (!on_device)
        write_sender(&line, slice);
    rex_line_text(&line, "}}\n");
    end_line(&line, slice->end);
}

/* ---- opening --------------------------------------------------------------------------------- */

/*
 * 0; EWOULDBLOCK: another process writes to it; or another error. Pipes and devices are neither
 * locked nor emptied.
 */
static int open_path(void)
{
    int error = rex_output_open(&file, path);
    if (error == 0 && S_ISREG(file.status.st_mode)) {
        error = lock_file();
        if (error == 0 && ftruncate(file.descriptor, 0) != 0)
            error = errno;
    }
    if (error != 0)
        rex_output_close(&file);
    is_open = error == 0;
    return error;
}

/* A child of fork has its own number behind a name without one. */
static int open_named(void)
{
    bool is_numbered;
    if (!rex_file_name(pattern, path, &is_numbered) ||
        (is_parents && !is_numbered && !rex_file_number(path)))
        return ENAMETOOLONG;
    int error = open_path();
    if (error != EWOULDBLOCK)
        return error;
    rex_log(REX_LOG_INFO,
            "%s: another process writes to %s; this one's number is added to the name",
            rex_setting_variable(REX_OPTION_TRACE), path);
    return rex_file_number(path) ? open_path() : ENAMETOOLONG;
}

static bool open_file(void)
{
    int error = open_named();
    if (error != 0) {
        warn(error);
        return false;
    }
    is_parents = false;
    memcpy(buffer, "[\n", 2);
    used = 2;
    whole = 0;
    written_at = 0;
    write_name("process_name", (uint32_t)getpid(), program_invocation_short_name, true);
    return true;
}

bool rex_trace_file_open(const char *name)
{
    snprintf(pattern, sizeof pattern, "%s", name);
    return open_file();
}

bool rex_trace_file_open_in_child(void)
{
    return !is_parents || open_file();
}

/* ---- the end --------------------------------------------------------------------------------- */

void rex_trace_file_close(void)
{
    struct rex_line line = new_line();
    rex_line_text(&line, "]\n");
    used += line.full ? 0 : line.length;
    write_all();
    int error = is_open ? rex_output_close(&file) : 0;
    if (error != 0)
        warn(error);
    is_open = false;
}

void rex_trace_file_forget(void)
{
    rex_output_close(&file); /* the lock stays with the parent */
    is_open = false;
    used = 0;
    is_parents = true;
}
