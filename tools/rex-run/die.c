/*
 * die.c - ends rex-run after an error of its own.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "die.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/print.h"

static void (*tidy_up)(void);

void tidy_before_death(void (*tidy)(void))
{
    tidy_up = tidy;
}

void die(int status, const char *format, ...)
{
    va_list arguments;
    char *message = NULL;
    va_start(arguments, format);
    if (vasprintf(&message, format, arguments) < 0)
        message = NULL;
    va_end(arguments);
    tool_error("rex-run", message != NULL ? message : "out of memory");
    if (tidy_up != NULL)
        tidy_up();
    exit(status);
}

void path_of(char path[PATH_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, PATH_MAX, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= PATH_MAX)
        die(NOT_RUN, "%.60s...: the path is too long", path);
}
