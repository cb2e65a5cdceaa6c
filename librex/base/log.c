/*
 * log.c - what librex says while it works: to standard error, to a file, or to a function of the
 * program.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/settings.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/logfile.h"

/* ---- the level ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum rex_log_level level;
} levels[] = {
    {"off", REX_LOG_OFF},      {"error", REX_LOG_ERROR}, {"warn", REX_LOG_WARN},
    {"warning", REX_LOG_WARN}, {"info", REX_LOG_INFO},   {"debug", REX_LOG_DEBUG},
};

int rex_log_level_now = REX_LOG_UNKNOWN;
static void (*when_debug)(void);
/* of the level as it changes, and of the file; nothing is locked under it but a setting */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int rex_log_parse(const char *value, enum rex_log_level *level, const char **file)
{
    size_t length = strcspn(value, ":");
    int found = length == 0 && value[0] == ':' ? 0 : -1;
    *level = REX_LOG_WARN;
    for (size_t i = 0; found < 0 && i < sizeof levels / sizeof *levels; i++)
        if (strlen(levels[i].name) == length && strncasecmp(value, levels[i].name, length) == 0) {
            *level = levels[i].level;
            found = 0;
        }
    *file = value[length] == ':' ? value + length + 1 : "";
    return value[length] == ':' && **file == '\0' ? -1 : found;
}

static int decide(bool again)
{
    char value[REX_CONFIG_MAX];
    enum rex_log_level level = REX_LOG_WARN;
    const char *file = "";
    rex_lock(&lock);
    int before = rex_log_level_now;
    bool misspelled = false;
    if (before == REX_LOG_UNKNOWN || again) {
        if (rex_config(REX_OPTION_LOG, value) && rex_log_parse(value, &level, &file) != 0) {
            misspelled = true;
            level = REX_LOG_WARN;
            file = "";
        }
        rex_logfile_set(file);
        __atomic_store_n(&rex_log_level_now, (int)level, __ATOMIC_SEQ_CST);
    }
    int now = rex_log_level_now;
    rex_unlock(&lock);
    if (misspelled)
        rex_log(REX_LOG_WARN, "%s=%s is no level with or without a file; warn is used",
                rex_config_variable(REX_OPTION_LOG), value);
    void (*call)(void) = __atomic_load_n(&when_debug, __ATOMIC_ACQUIRE);
    if (now == REX_LOG_DEBUG && before != REX_LOG_DEBUG && call != NULL)
        call();
    return now;
}

int rex_log_decide(void)
{
    int error = errno, now = decide(false);
    errno = error;
    return now;
}

void rex_log_changed(void)
{
    decide(true);
}

void rex_log_on_debug(void (*call)(void))
{
    __atomic_store_n(&when_debug, call, __ATOMIC_RELEASE);
}

/* ---- lines ----------------------------------------------------------------------------------- */

struct line {
    struct line *next;
    enum rex_log_level level;
    char message[];
};

static struct {
    rex_log_function *function;
    void *context;
} theirs; /* under the lock */

/*
 * Of a thread: how often it holds its lines back, those lines, and whether it is in the program's
 * function.
 */
static __thread struct {
    int held;
    bool inside;
    struct line *first, **end;
} own;

static void write_line(const char *message)
{
    char line[REX_PRINTED_MAX + 16];
    int length = snprintf(line, sizeof line, "librex: %s\n", message);
    pthread_mutex_lock(&lock);
    rex_logfile_write(line, (size_t)length);
    pthread_mutex_unlock(&lock);
}

/*
 * The program's function may call librex, and what that fails with is not what the program asks for
 * afterwards.
 */
static void hand_over(enum rex_log_level level, const char *message)
{
    char last[REX_MESSAGE_MAX];
    int code = rex_last_error_code();
    snprintf(last, sizeof last, "%s", rex_last_error());
    pthread_mutex_lock(&lock);
    rex_log_function *function = theirs.function;
    void *context = theirs.context;
    pthread_mutex_unlock(&lock);
    if (function == NULL || own.inside) {
        write_line(message);
        return;
    }
    own.inside = true;
    function(level, message, context);
    own.inside = false;
    rex_fail_again(code, last);
}

static void keep(enum rex_log_level level, const char *message)
{
    size_t size = strlen(message) + 1;
    struct line *line = malloc(sizeof *line + size);
    if (line == NULL) {
        write_line(message);
        return;
    }
    *line = (struct line){.level = level};
    memcpy(line->message, message, size);
    *(own.first != NULL ? own.end : &own.first) = line;
    own.end = &line->next;
}

static void say(enum rex_log_level level, const char *message)
{
    if (__atomic_load_n(&theirs.function, __ATOMIC_RELAXED) == NULL)
        write_line(message);
    else if (own.held > 0)
        keep(level, message);
    else
        hand_over(level, message);
}

void rex_log_hold(void)
{
    own.held++;
}

void rex_log_release(void)
{
    int error = errno;
    own.held--;
    while (own.held == 0 && own.first != NULL) {
        struct line *line = own.first;
        own.first = line->next;
        hand_over(line->level, line->message);
        free(line);
    }
    errno = error;
}

REX_FORK_TAKEN(90, NULL);

void rex_set_log_callback(rex_log_function *function, void *context)
{
    pthread_mutex_lock(&lock);
    theirs.context = context;
    __atomic_store_n(&theirs.function, function, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
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
    say(level, message);
    errno = error;
}

void rex_log_once(enum rex_log_level level, const char *message)
{
    static uint64_t previous;
    uint64_t hash = rex_hash_string(message);
    int error = errno;
    if (rex_log_wanted(level) && __atomic_exchange_n(&previous, hash, __ATOMIC_RELAXED) != hash)
        say(level, message);
    errno = error;
}
