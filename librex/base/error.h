/*
 * error.h - failures: each thread's last one, and what errors are called.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ERROR_H
#define REX_INTERNAL_ERROR_H

#include "rex/offload.h"

/* Longest message, in bytes with its NUL: a list of rejected libraries is the longest there is. */
#define REX_MESSAGE_MAX 4096

/*
 * CODE and MESSAGE become this thread's last error, and nothing is printed: for a thread that
 * shares a failure which another thread has printed. MESSAGE is escaped. Returns CODE; errno stays.
 * Without memory for MESSAGE the error is REX_ENOMEM with a constant text, and so is the result.
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

#endif
