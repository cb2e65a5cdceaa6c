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
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/settings.h"
#include "trace/traceline.h"

#define BUFFER_BYTES 65536
#define OLD UINT64_C(10000000) /* nanoseconds after which an event does not wait for others */

static char buffer[BUFFER_BYTES];
static size_t used;
static uint64_t written_at;
static int file = -1;
static off_t whole; /* bytes of whole lines in the file */
static char path[PATH_MAX];

static void warn(int error)
{
    rex_log(REX_LOG_WARN, "%s: %s cannot be written: %s; the program runs on without it",
            rex_setting_variable(REX_OPTION_TRACE), path, strerror(error));
}

/* ---- opening --------------------------------------------------------------------------------- */

/*
 * 0; EWOULDBLOCK: another process writes to it; or another error. Pipes and devices are neither
 * locked nor emptied.
 */
static int open_path(void)
{
    struct stat status;
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (file < 0)
        return errno;
    int error = 0;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        /* Some file systems have no locks: then nobody is asked. */
        if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            error = EWOULDBLOCK;
        else if (ftruncate(file, 0) != 0)
            error = errno;
    }
    if (error != 0) {
        close(file);
        file = -1;
    }
    return error;
}

int rex_trace_file_open(const char *setting, bool forked)
{
    bool is_numbered;
    bool fits = rex_file_name(setting, path, &is_numbered) &&
                (is_numbered || !forked || rex_file_number(path));
    int error = fits ? open_path() : ENAMETOOLONG;
    if (error == EWOULDBLOCK) {
        rex_log(REX_LOG_INFO,
                "%s: another process writes to %s; this one's number is added to the name",
                rex_setting_variable(REX_OPTION_TRACE), path);
        error = rex_file_number(path) ? open_path() : ENAMETOOLONG;
    }
    if (error != 0) {
        warn(error);
        return -1;
    }
    memcpy(buffer, "[\n", 2);
    used = 2;
    whole = 0;
    written_at = 0;
    return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/*
 * Of BYTES that were written before something failed, what was not the whole of a line is taken
 * back.
 */
static void give_up(size_t bytes, int error)
{
    const char *end = memrchr(buffer, '\n', bytes);
    whole += end != NULL ? end + 1 - buffer : 0;
    if (ftruncate(file, whole) != 0)
        rex_log(REX_LOG_DEBUG, "%s ends within a line: %s", path, strerror(errno));
    warn(error);
    close(file);
    file = -1;
}

static void write_all(void)
{
    size_t done = 0;
    while (file >= 0 && done < used) {
        ssize_t result = write(file, buffer + done, used - done);
        if (result > 0)
            done += (size_t)result;
        else if (result == 0 || errno != EINTR)
            give_up(done, result == 0 ? EIO : errno);
    }
    whole += file >= 0 ? (off_t)used : 0;
    used = 0;
}

char *rex_trace_file_room(void)
{
    if (sizeof buffer - used < REX_LINE_MAX)
        write_all();
    return file >= 0 ? buffer + used : NULL;
}

void rex_trace_file_wrote(size_t length, uint64_t now)
{
    used += length;
    if (now - written_at < OLD)
        return;
    write_all();
    written_at = now;
}

void rex_trace_file_close(void)
{
    char *room = rex_trace_file_room();
    if (room == NULL)
        return;
    memcpy(room, "]\n", 2);
    used += 2;
    write_all();
    if (file >= 0 && close(file) != 0)
        warn(errno);
    file = -1;
}

void rex_trace_file_forget(void)
{
    if (file >= 0)
        close(file); /* the lock stays with the parent */
    file = -1;
    used = 0;
}
