/*
 * error.h - failures, and what they are called.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ERROR_H
#define REX_INTERNAL_ERROR_H

#include "base/lasterror.h"

/*
 * The message becomes this thread's last error and is printed, once however often it comes in a
 * row, with what could command a terminal escaped. Returns CODE; errno stays, as in all of these.
 */
int rex_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a message of several lines: what others named in it has been escaped before. */
int rex_fail_lines(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For an allocation of SIZE bytes for WHAT that failed. */
int rex_fail_memory(size_t size, const char *what);

#endif
