/* log.c - lines on standard error. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <strings.h>

#include "config.h"
#include "error.h"
#include "hash.h"

static const char *const level_names[] = {"off", "error", "warn", "info", "debug"};

static int level_of(const char *name)
{
    for (int level = 0; level < (int)(sizeof level_names / sizeof *level_names); level++)
        if (strcasecmp(name, level_names[level]) == 0)
            return level;
    return -1;
}

int rex_log_level_exists(const char *name)
{
    return level_of(name) >= 0;
}

static int lets_through(enum rex_log_level level)
{
    char value[REX_CONFIG_MAX];
    int wanted = rex_config(REX_OPTION_LOG, value) ? level_of(value) : -1;
    return (int)level <= (wanted < 0 ? (int)REX_LOG_WARN : wanted);
}

/* One write for a line, so that lines of several threads do not mix. */
static void write_line(const char *message)
{
    fprintf(stderr, "librex: %s\n", message);
}

void rex_log(enum rex_log_level level, const char *format, ...)
{
    char message[REX_MESSAGE_MAX];
    va_list arguments;
    if (!lets_through(level))
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    write_line(message);
}

void rex_log_once(enum rex_log_level level, const char *message)
{
    static uint64_t previous;
    uint64_t hash = rex_hash_string(message);
    if (lets_through(level) && __atomic_exchange_n(&previous, hash, __ATOMIC_RELAXED) != hash)
        write_line(message);
}
