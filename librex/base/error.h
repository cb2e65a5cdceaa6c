/*
 * error.h - the last error of each thread, reports of several errors, and the name that is nearest
 * to a misspelt name. A call that succeeds does not change the last error.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ERROR_H
#define REX_INTERNAL_ERROR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "rex/error.h"

/*
 * Sets this thread's last error to CODE and MESSAGE, without a line in the log. The caller has
 * escaped MESSAGE. Returns CODE and preserves errno.
 *
 * If there is no memory for MESSAGE, sets and returns REX_ENOMEM with a constant text. If the
 * thread is ending and has freed its memory in librex, sets and returns REX_EINVAL.
 */
int rex_fail_again(int code, const char *message);

/* Escapes the message, and sets it by rex_fail_again(). Returns the result of rex_fail_again(). */
int rex_fail_quietly(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Escapes the message, sets it as this thread's last error by rex_fail_again(), and logs it by
 * rex_log_once(). Returns the result of rex_fail_again().
 */
int rex_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Does what rex_fail() does, but does not escape line feeds. Escape the names in the message before
 * the call.
 */
int rex_fail_lines(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * A saved last error. If code between rex_error_keep() and rex_error_restore() fails, the program
 * still reads the saved error.
 */
struct rex_kept_error {
    int code;
    char message[REX_MESSAGE_MAX];
};
void rex_error_keep(struct rex_kept_error *kept);
void rex_error_restore(const struct rex_kept_error *kept);

/* Sets and returns REX_EINVAL, because ARGUMENT of FUNCTION is NULL. */
int rex_fail_null(const char *function, const char *argument);

/* Sets and returns REX_ENOMEM, because an allocation of SIZE bytes for WHAT failed. */
int rex_fail_memory(size_t size, const char *what);

/* ---- reports --------------------------------------------------------------------------------- */

/*
 * A list of rejected candidates, such as libraries, each with the reason. The text is escaped, and
 * its length is limited.
 */
struct rex_report {
    size_t length;
    /* errno of a temporary failure, such as EMFILE: the list may lack a candidate; otherwise 0 */
    int error;
    char text[3072];
};

/*
 * Adds BEFORE unescaped, and after it the formatted text, escaped. BEFORE is "" or REX_REPORT_LINE.
 */
#define REX_REPORT_LINE "\n  "
void rex_report_add(struct rex_report *report, const char *before, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- the nearest name ------------------------------------------------------------------------ */

/* A search for the name nearest to `wanted`. The other members are zero at first. */
struct rex_nearest {
    const char *wanted;
    const char *name; /* the nearest name so far; NULL: no name was near */
    size_t edits;     /* number of edits between `wanted` and `name` */
    size_t steps;     /* number of letters compared so far */
};

/*
 * Compares NAME with `wanted`. If NAME is the nearest name so far, stores the pointer NAME in
 * `name`.
 */
void rex_nearest_try(struct rex_nearest *nearest, const char *name);

/* Returns the 64-bit FNV-1a hash of BYTES. */
static inline uint64_t rex_hash_bytes(const void *bytes, size_t size)
{
    const unsigned char *byte = (const unsigned char *)bytes;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

static inline uint64_t rex_hash_string(const char *string)
{
    return rex_hash_bytes(string, strlen(string));
}

#endif
