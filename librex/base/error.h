/*
 * error.h - failures: each thread's last one, what errors are called, and the name that was
 * probably meant. A call that succeeds leaves the last failure as it is.
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
 * CODE and MESSAGE become this thread's last error, and nothing is printed: for a thread that
 * shares a failure which another thread has printed. The caller has escaped MESSAGE. Returns CODE;
 * errno stays. Without memory for MESSAGE the error is REX_ENOMEM with a constant text, and so is
 * the result.
 */
int rex_fail_again(int code, const char *message);

/*
 * The message becomes this thread's last error and is printed, once however often it comes in a
 * row, with what could command a terminal escaped. Returns what rex_fail_again() returns.
 */
int rex_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a message of several lines: what others named in it has been escaped before. */
int rex_fail_lines(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A thread's last error, put aside: what is tried meanwhile and may fail leaves no error behind. */
struct rex_kept_error {
    int code;
    char message[REX_MESSAGE_MAX];
};
void rex_error_keep(struct rex_kept_error *kept);
void rex_error_restore(const struct rex_kept_error *kept);

/* For an argument of FUNCTION that is NULL: REX_EINVAL. */
int rex_fail_null(const char *function, const char *argument);

/* For an allocation of SIZE bytes for WHAT that failed. */
int rex_fail_memory(size_t size, const char *what);

/* ---- reports --------------------------------------------------------------------------------- */

/* Text that grows up to a limit, escaped: what was tried, and why each of it was rejected. */
struct rex_report {
    size_t length;
    int error; /* 0, or errno of a failure that may pass: there may be more candidates */
    char text[3072];
};

/* Adds BEFORE as it is: "", or what begins a new line. Then adds the rest, escaped. */
#define REX_REPORT_LINE "\n  "
void rex_report_add(struct rex_report *report, const char *before, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- the nearest name ------------------------------------------------------------------------ */

/* A search. All but the name that is wanted is zero at first. */
struct rex_nearest {
    const char *wanted;
    const char *name; /* the nearest so far; NULL: none was near */
    size_t edits;     /* how many letters have to change to make it of the wanted one */
    size_t steps;     /* taken so far: letters looked at */
};

/* Have NAME, which stays, compared. */
void rex_nearest_try(struct rex_nearest *nearest, const char *name);

/* FNV-1a. */
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
