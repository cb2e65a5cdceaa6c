/*
 * error.c - the last error of each thread, the names of errors, reports, and the name that is
 * nearest to a misspelt name.
 *
 * Implements rex_nearest_name() of rex/inspect.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/log.h"
#include "base/process.h"
#include "rex/detail.h"
#include "rex/inspect.h"

/* ---- the last error of each thread ----------------------------------------------------------- */

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
    return rex_last_error_code();
}

const char *rex_last_error(void)
{
    const struct rex_kept_error *last = rex_part_if_any(REX_PART_FAILURE);
    if (rex_thread.has_no_room)
        return rex_thread_is_over()
                   ? REX_THREAD_IS_OVER
                   : "out of memory: an error occurred, and there is no memory for its message";
    return last != NULL ? last->message : "";
}

int rex_last_error_code(void)
{
    const struct rex_kept_error *last = rex_part_if_any(REX_PART_FAILURE);
    if (rex_thread.has_no_room)
        return rex_thread_is_over() ? REX_EINVAL : REX_ENOMEM;
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

/* ---- setting an error ------------------------------------------------------------------------ */

static int set_and_print(int code, const char *format, va_list arguments, const char *kept)
{
    /* Format into a second buffer, because an argument may be the last message itself. */
    char message[REX_PRINTED_MAX];
    int error = errno;
    vsnprintf(message, REX_MESSAGE_MAX, format, arguments);
    rex_escape(message, REX_MESSAGE_MAX, kept);
    int result = rex_fail_again(code, message);
    size_t length = strlen(message);
    /* The name of the error follows the message, because the man page lists errors by name. */
    snprintf(message + length, sizeof message - length, " [%s]", rex_error_name(code));
    rex_log_once(REX_LOG_ERROR, message);
    errno = error;
    return result;
}

int rex_fail_quietly(int code, const char *format, ...)
{
    char message[REX_MESSAGE_MAX];
    int error = errno;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    rex_escape(message, sizeof message, "");
    errno = error;
    return rex_fail_again(code, message);
}

int rex_fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = set_and_print(code, format, arguments, "");
    va_end(arguments);
    return result;
}

int rex_fail_lines(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = set_and_print(code, format, arguments, "\n");
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

/* ---- reports --------------------------------------------------------------------------------- */

void rex_report_add(struct rex_report *report, const char *before, const char *format, ...)
{
    va_list arguments;
    size_t length = strlen(before);
    if (sizeof report->text - report->length > length + 1) {
        memcpy(report->text + report->length, before, length + 1);
        report->length += length;
    }
    size_t room = sizeof report->text - report->length;
    char *added = report->text + report->length;
    va_start(arguments, format);
    vsnprintf(added, room, format, arguments);
    va_end(arguments);
    rex_escape(added, room, "");
    report->length += strlen(added);
}

/* ---- the nearest name ------------------------------------------------------------------------ */

#define LONGEST_NAME 255
#define MOST_STEPS ((size_t)1 << 21) /* limits the time that one message may take */

/*
 * Returns the number of edits between A and B. If the number is above MOST, may return SIZE_MAX
 * instead. A swap of two neighbours is one edit. Adds the number of compared letters to *STEPS.
 */
static size_t count_edits(const char *a, size_t length_a, const char *b, size_t length_b,
                          size_t most, size_t *steps)
{
    size_t rows[3][LONGEST_NAME + 1];
    for (size_t j = 0; j <= length_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t *row = rows[i % 3], *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        size_t least = row[0] = i;
        *steps += length_b;
        for (size_t j = 1; j <= length_b; j++) {
            size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
            size_t either = (last[j] < row[j - 1] ? last[j] : row[j - 1]) + 1;
            row[j] = change < either ? change : either;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
            least = row[j] < least ? row[j] : least;
        }
        if (least > most)
            return SIZE_MAX;
    }
    return rows[length_a % 3][length_b];
}

/*
 * A name is near if it is at most N / 3 + 1 edits from the wanted name. N is the number of letters
 * of the wanted name, without an ending that both names have.
 */
void rex_nearest_try(struct rex_nearest *nearest, const char *name)
{
    if (nearest->steps >= MOST_STEPS)
        return;
    size_t wanted = strlen(nearest->wanted), longest = 2 * (wanted + 1);
    size_t length = strnlen(name, longest);
    nearest->steps += wanted + length;
    if (length == longest)
        return;
    /*
     * Skip the ending that both names have. The symbols of REX_DEVICE_KERNEL() all end in
     * __kernel__, so an equal ending does not make two names similar.
     */
    while (wanted > 0 && length > 0 && nearest->wanted[wanted - 1] == name[length - 1]) {
        wanted--;
        length--;
    }
    if (wanted > LONGEST_NAME || length > LONGEST_NAME)
        return;
    size_t most = wanted / 3 + 1;
    if (nearest->name != NULL && nearest->edits <= most) {
        if (nearest->edits == 0)
            return;
        most = nearest->edits - 1;
    }
    size_t apart = wanted > length ? wanted - length : length - wanted;
    if (apart > most)
        return;
    size_t edits = count_edits(nearest->wanted, wanted, name, length, most, &nearest->steps);
    if (edits <= most) {
        nearest->name = name;
        nearest->edits = edits;
    }
}

const char *rex_nearest_name(const char *name, const char *const *names, size_t count)
{
    struct rex_nearest nearest = {.wanted = name};
    if (name == NULL || (names == NULL && count > 0)) {
        rex_fail_null("rex_nearest_name", name == NULL ? "name" : "array of names");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (names[i] != NULL)
            rex_nearest_try(&nearest, names[i]);
    return nearest.name;
}
