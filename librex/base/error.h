/*
 * error.h - results and their messages.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ERROR_H
#define REX_INTERNAL_ERROR_H

#include "rex/offload.h"

/* Longest message, in bytes with its NUL: a list of rejected libraries is the longest there is. */
#define REX_MESSAGE_MAX 4096
/* The same with the name of the error behind it, as it is printed. */
#define REX_PRINTED_MAX (REX_MESSAGE_MAX + 32)

/*
 * Record the message for this thread, print it once, and return CODE. errno stays, as in all of
 * these.
 */
int rex_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The same without printing: for a thread that shares a failure which another thread has printed.
 */
int rex_fail_again(int code, const char *message);

/* For an allocation of SIZE bytes for WHAT that failed. */
int rex_fail_memory(size_t size, const char *what);

#endif
