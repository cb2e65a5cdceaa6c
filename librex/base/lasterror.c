/*
 * lasterror.c - the last error of each thread.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/lasterror.h"

#include <errno.h>
#include <stdio.h>

static __thread struct {
    int code;
    char message[REX_MESSAGE_MAX];
} last;

int rex_fail_again(int code, const char *message)
{
    int error = errno;
    last.code = code;
    snprintf(last.message, sizeof last.message, "%s", message);
    errno = error;
    return code;
}

const char *rex_last_error(void)
{
    return last.message;
}

int rex_last_error_code(void)
{
    return last.code;
}
