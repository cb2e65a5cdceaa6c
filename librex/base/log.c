/*
 * log.c - the log, which goes to standard error, to a file, or to a function of the program.
 *
 * A file is opened for appending and each line is one write, so that the lines of several threads
 * and processes do not mix.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"

/* Guards changes of the level, `sink` below, and all data of a trace. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
REX_FORK_TAKEN(90, NULL);

void rex_output_lock(void)
{
    rex_log_hold();
    if (rex_thread.outputs++ == 0)
        pthread_mutex_lock(&lock);
}

void rex_output_unlock(void)
{
    REX_ASSERT(rex_thread.outputs > 0);
    if (--rex_thread.outputs == 0)
        pthread_mutex_unlock(&lock);
    rex_log_resume();
}

bool rex_output_lock_at_exit(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    rex_log_hold();
    bool is_taken = pthread_mutex_timedlock(&lock, &until) == 0;
    if (is_taken) {
        REX_ASSERT(rex_thread.outputs == 0);
        rex_thread.outputs++;
    } else
        rex_log_resume();
    return is_taken;
}

static struct {
    char pattern[REX_SETTING_MAX]; /* the pattern of the file's name; "": standard error */
    pid_t opened_by;               /* the process that opened the file */
    struct rex_output output;      /* if its descriptor is -1, standard error replaces the file */
    rex_log_function *function;    /* the program's function, or NULL; atomic */
    void *context;
} sink = {.output = {.descriptor = -1}};

/* ---- the file -------------------------------------------------------------------------------- */

/*
 * Closes the log file, and warns that it cannot be opened or written because of ERROR. DONE is the
 * word for the warning: "opened" or "written".
 */
static __attribute__((noinline)) void leave_log_file(const char *done, int error)
{
    char message[REX_MESSAGE_MAX];
    size_t most = sizeof message - 1; /* leaves room for a line feed */
    rex_output_close(&sink.output);
    snprintf(message, most,
             "librex: warning: the log %.3000s cannot be %s: %s; standard error is used",
             sink.output.name, done, rex_output_why(error));
    rex_escape(message, most, "");
    strcat(message, "\n");
    rex_file_say(message);
}

static void open_log_file(void)
{
    sink.opened_by = getpid();
    int error = rex_output_open(&sink.output, sink.pattern, false);
    if (error != 0)
        leave_log_file("opened", error);
}

static __attribute__((noinline)) void write_line(enum rex_log_level level, const char *message)
{
    static const char *const names[] = {"off", "error", "warning", "info", "debug"};
    char line[REX_PRINTED_MAX + 32];
    size_t done;
    snprintf(line, sizeof line, "librex: %s: %s\n", names[level], message);
    rex_output_lock();
    /* A child of fork opens its own file if the name has the process ID (%p). */
    if (sink.output.descriptor >= 0 && sink.output.is_numbered && sink.opened_by != getpid()) {
        rex_output_close(&sink.output);
        open_log_file();
    }
    if (sink.output.descriptor >= 0) {
        int error = rex_output_is_open(&sink.output) ? 0 : rex_output_reopen(&sink.output, false);
        if (error == 0)
            error = rex_file_write(sink.output.descriptor, line, strlen(line), &done);
        if (error != 0)
            leave_log_file("written", error);
    }
    if (sink.output.descriptor < 0)
        rex_file_say(line);
    rex_output_unlock();
}

/* ---- the level ------------------------------------------------------------------------------- */

int rex_log_level_now = REX_LOG_UNKNOWN;

int rex_log_decide(void)
{
    char value[REX_SETTING_MAX];
    int error = errno;
    rex_output_lock();
    enum rex_log_level level = (enum rex_log_level)rex_setting_given(REX_OPTION_LOG, value);
    const char *colon = strchr(value, ':');
    const char *pattern = colon != NULL ? colon + 1 : "";
    if (strcmp(pattern, sink.pattern) != 0) {
        rex_output_close(&sink.output);
        snprintf(sink.pattern, sizeof sink.pattern, "%s", pattern);
        if (*pattern != '\0')
            open_log_file();
    }
    __atomic_store_n(&rex_log_level_now, (int)level, __ATOMIC_SEQ_CST);
    rex_output_unlock();
    rex_settings_review();
    errno = error;
    return (int)level;
}

/* ---- the program's function ------------------------------------------------------------------ */

/* A line that is kept until its thread's outermost rex_log_resume(). */
struct line {
    struct line *next;
    enum rex_log_level level;
    char message[];
};

/* The kept lines of one thread. */
struct lines {
    struct line *first, **end;
};

void rex_set_log_callback(rex_log_function *function, void *context)
{
    rex_output_lock();
    sink.context = context;
    /*
     * Relaxed: before a thread calls the function, it reads the pointer under the lock. Without the
     * lock the pointer is only compared with NULL.
     */
    __atomic_store_n(&sink.function, function, __ATOMIC_RELAXED);
    rex_output_unlock();
}

/*
 * The program's log function may call librex. An error of such a call must not replace the last
 * error, which the program reads later.
 */
static __attribute__((noinline)) void call_log_function(rex_log_function *function,
                                                        enum rex_log_level level,
                                                        const char *message, void *context)
{
    struct rex_kept_error last;
    rex_error_keep(&last);
    rex_thread.in_function = true;
    function(level, message, context);
    rex_thread.in_function = false;
    rex_error_restore(&last);
}

static void hand_over_line(enum rex_log_level level, const char *message)
{
    rex_output_lock();
    rex_log_function *function = sink.function;
    void *context = sink.context;
    rex_output_unlock();
    if (function == NULL || rex_thread.in_function)
        write_line(level, message);
    else
        call_log_function(function, level, message, context);
}

void rex_log_say_held(void)
{
    int error = errno;
    struct lines *own = rex_part_if_any(REX_PART_LINES);
    rex_thread.has_held_lines = false;
    while (rex_thread.holds == 0 && own != NULL && own->first != NULL) {
        struct line *line = own->first;
        own->first = line->next;
        hand_over_line(line->level, line->message);
        free(line);
    }
    errno = error;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void say_line(enum rex_log_level level, const char *message)
{
    /* Relaxed: the pointer is only compared with NULL; hand_over_line() reads it under the lock. */
    bool is_theirs = __atomic_load_n(&sink.function, __ATOMIC_RELAXED) != NULL;
    if (!is_theirs || rex_thread.holds == 0) {
        hand_over_line(level, message);
        return;
    }
    size_t size = strlen(message) + 1;
    struct lines *own = rex_part(REX_PART_LINES, sizeof *own);
    struct line *line = own != NULL ? malloc(sizeof *line + size) : NULL;
    if (line == NULL) {
        write_line(level, message);
        return;
    }
    *line = (struct line){.level = level};
    memcpy(line->message, message, size);
    REX_ASSERT(own->first == NULL || *own->end == NULL);
    *(own->first != NULL ? own->end : &own->first) = line;
    own->end = &line->next;
    rex_thread.has_held_lines = true;
}

void rex_log(enum rex_log_level level, const char *format, ...)
{
    char message[REX_MESSAGE_MAX];
    va_list arguments;
    int error = errno;
    if (!rex_log_wanted(level))
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    rex_escape(message, sizeof message, "");
    say_line(level, message);
    errno = error;
}

void rex_log_once(enum rex_log_level level, const char *message)
{
    static uint64_t previous;
    uint64_t hash = rex_hash_string(message);
    int error = errno;
    /*
     * Relaxed: the exchange alone decides if this thread logs, and no other data depend on the
     * hash.
     */
    if (rex_log_wanted(level) && __atomic_exchange_n(&previous, hash, __ATOMIC_RELAXED) != hash)
        say_line(level, message);
    errno = error;
}
