/*
 * logfile.c - lines to standard error, or to the end of a file.
 *
 * A file is opened for appending and each line is one write, so that the lines of several threads
 * and processes do not mix.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char name[PATH_MAX]; /* as it was given; "": standard error */
static int file = -1;
static pid_t opened_by;

/*
 * "%p" becomes the number of the process, "%%" a percent sign. Returns the length, PATH_MAX where
 * the path is longer than that.
 */
static size_t path_of(char path[PATH_MAX])
{
    size_t length = 0;
    for (const char *from = name; *from != '\0' && length < PATH_MAX; from++) {
        if (from[0] == '%' && from[1] == 'p') {
            int digits = snprintf(path + length, PATH_MAX - length, "%ld", (long)getpid());
            length += digits > 0 ? (size_t)digits : 0;
            from++;
            continue;
        }
        from += from[0] == '%' && from[1] == '%';
        path[length++] = *from;
    }
    length = length < PATH_MAX ? length : PATH_MAX;
    path[length < PATH_MAX ? length : PATH_MAX - 1] = '\0';
    return length;
}

static void open_file(void)
{
    char path[PATH_MAX];
    size_t length = path_of(path);
    errno = ENAMETOOLONG;
    file = length < PATH_MAX
               ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666)
               : -1;
    opened_by = getpid();
    if (file < 0)
        fprintf(stderr, "librex: the log %s cannot be opened: %s; standard error is used\n", path,
                strerror(errno));
}

static void close_file(void)
{
    if (file >= 0)
        close(file);
    file = -1;
}

void rex_logfile_set(const char *wanted)
{
    if (strcmp(wanted, name) == 0)
        return;
    close_file();
    snprintf(name, sizeof name, "%s", wanted);
    if (*name != '\0')
        open_file();
}

/* A child of fork has a file of its own where the name says so. */
static void follow_fork(void)
{
    if (file < 0 || strstr(name, "%p") == NULL || opened_by == getpid())
        return;
    close_file();
    open_file();
}

void rex_logfile_write(const char *line, size_t size)
{
    follow_fork();
    if (file < 0 || write(file, line, size) != (ssize_t)size)
        fwrite(line, 1, size, stderr);
}
