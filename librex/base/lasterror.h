/*
 * lasterror.h - the last error of each thread.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LASTERROR_H
#define REX_INTERNAL_LASTERROR_H

#include "rex/offload.h"

/* Longest message, in bytes with its NUL: a list of rejected libraries is the longest there is. */
#define REX_MESSAGE_MAX 4096

/*
 * CODE and MESSAGE become this thread's last error, and nothing is printed: for a thread that
 * shares a failure which another thread has printed. MESSAGE is escaped. Returns CODE; errno stays.
 */
int rex_fail_again(int code, const char *message);

#endif
