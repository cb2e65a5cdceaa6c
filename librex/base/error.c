/*
 * error.c - failures: each thread's last one, what is printed, and what errors are called.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/names.h"
#include "base/thread.h"
#include "rex/detail.h"

/* ---- the last error of each thread ----------------------------------------------------------- */

/* The code of an error that came when there was no memory for its text. */
static int code_without_room(void)
{
    return rex_thread_is_over() ? REX_EINVAL : REX_ENOMEM;
}

int rex_fail_again(int code, const char *message)
{
    int error = errno;
    struct rex_kept_error *last = rex_part(REX_PART_FAILURE, sizeof *last);
    rex_thread.has_no_room = last == NULL;
    if (last != NULL) {
        last->code = code;
        snprintf(last->message, sizeof last->message, "%s", message);
    }
    errno = error;
    return last != NULL ? code : code_without_room();
}

const char *rex_last_error(void)
{
    const struct rex_kept_error *last = rex_part_if_any(REX_PART_FAILURE);
    if (rex_thread.has_no_room)
        return rex_thread_is_over() ? REX_THREAD_IS_OVER : "out of memory, also for the message";
    return last != NULL ? last->message : "";
}

int rex_last_error_code(void)
{
    const struct rex_kept_error *last = rex_part_if_any(REX_PART_FAILURE);
    if (rex_thread.has_no_room)
        return code_without_room();
    return last != NULL ? last->code : REX_OK;
}

void rex_error_keep(struct rex_kept_error *kept)
{
    kept->code = rex_last_error_code();
    snprintf(kept->message, sizeof kept->message, "%s", rex_last_error());
}

void rex_error_restore(const struct rex_kept_error *kept)
{
    if (kept->code != REX_OK || rex_part_if_any(REX_PART_FAILURE) != NULL)
        rex_fail_again(kept->code, kept->message);
    else
        rex_thread.has_no_room = false;
}

/* ---- a new one ------------------------------------------------------------------------------- */

static int fail(int code, const char *format, va_list arguments,
                void (*escape)(char *text, size_t size))
{
    char message[REX_PRINTED_MAX]; /* the last one may be one of the arguments */
    int error = errno;
    vsnprintf(message, REX_MESSAGE_MAX, format, arguments);
    escape(message, REX_MESSAGE_MAX);
    int result = rex_fail_again(code, message);
    size_t length = strlen(message);
    /* The name behind the message is that of the error's man page. */
    snprintf(message + length, sizeof message - length, " [%s]", rex_error_name(code));
    rex_log_once(REX_LOG_ERROR, message);
    errno = error;
    return result;
}

int rex_fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = fail(code, format, arguments, rex_escape);
    va_end(arguments);
    return result;
}

int rex_fail_lines(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = fail(code, format, arguments, rex_escape_lines);
    va_end(arguments);
    return result;
}

int rex_fail_null(const char *function, const char *argument)
{
    return rex_fail(REX_EINVAL, "%s: the %s is NULL", function, argument);
}

int rex_fail_memory(size_t size, const char *what)
{
    return rex_fail(REX_ENOMEM, "out of memory: %zu bytes for %s", size, what);
}

const char *rex_error_name(int error)
{
    switch (error) {
#define NAME(name, value, text) \
    case (value): return #name;
        REX_ERRORS(NAME)
#undef NAME
    default: return "unknown error";
    }
}

const char *rex_version(void)
{
    return REX_VERSION_STRING;
}
