/*
 * tell.c - logs at the level info which libomptarget rex-run has chosen, and why.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "tell.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/text.h"

static char *told;

/* Returns true if REX_LOG, which is LEVEL, LEVEL:FILE or :FILE, sets the level info or debug. */
bool is_told(void)
{
    const char *value = getenv("REX_LOG");
    size_t length = value != NULL ? strcspn(value, ":") : 0;
    return (length == 4 && strncasecmp(value, "info", length) == 0) ||
           (length == 5 && strncasecmp(value, "debug", length) == 0);
}

void tell(const char *format, ...)
{
    va_list arguments;
    free(told);
    va_start(arguments, format);
    if (vasprintf(&told, format, arguments) < 0)
        told = NULL;
    va_end(arguments);
}

void write_told(void)
{
    char line[REX_MESSAGE_MAX];
    struct rex_output log = {.descriptor = -1};
    size_t done;
    if (told == NULL || !is_told())
        return;
    snprintf(line, sizeof line - 1, "rex-run: info: %s", told);
    rex_escape(line, sizeof line - 1, ""); /* leaves room for a line feed */
    strcat(line, "\n");
    const char *file = strchr(getenv("REX_LOG"), ':');
    if (file == NULL || rex_output_open(&log, file + 1, false) != 0) {
        rex_file_say(line);
        return;
    }
    rex_file_write(log.descriptor, line, strlen(line), &done);
    rex_output_close(&log);
}
