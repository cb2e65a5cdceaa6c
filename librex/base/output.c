/*
 * output.c - a file that librex keeps open, and writes to at its end.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FLAGS (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY)

/* Above what programs use, and below the 1024 that select() knows and that is the usual limit. */
#define HIGH 960

/* The least number for librex's own descriptors. */
static int least_number(void)
{
    struct rlimit limit;
    bool is_low = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < HIGH + 64;
    return is_low ? (int)limit.rlim_cur / 2 : HIGH;
}

/*
 * DESCRIPTOR under a number that no program counts on, as on the one of the file that it opens
 * first; -1 and errno where it is one of 0 to 2 and cannot have another.
 */
static int move_away(int descriptor)
{
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, least_number());
    if (moved < 0 && descriptor > STDERR_FILENO)
        return descriptor;
    if (moved < 0)
        moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    close(descriptor);
    errno = error;
    return moved;
}

/*
 * Non-blocking for open() alone, which would wait for a pipe's reader: who reads slowly loses
 * nothing.
 */
static int open_high(const char *path, int flags)
{
    int descriptor = open(path, FLAGS | O_NONBLOCK | flags, 0666);
    if (descriptor < 0 || (descriptor = move_away(descriptor)) < 0)
        return -1;
    int now = fcntl(descriptor, F_GETFL);
    if (now != -1)
        fcntl(descriptor, F_SETFL, now & ~O_NONBLOCK);
    return descriptor;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* A relative path that would be too long stays as it is. */
static void make_absolute(char absolute[PATH_MAX], const char *path)
{
    char folder[PATH_MAX];
    bool is_made = *path != '/' && getcwd(folder, sizeof folder) != NULL &&
                   snprintf(absolute, PATH_MAX, "%s/%s", folder, path) < PATH_MAX;
    if (!is_made)
        snprintf(absolute, PATH_MAX, "%s", path);
}

/* The descriptor of the file at PATH, and its STATUS; -1 and errno. */
static int open_file(const char *path, int flags, struct stat *status)
{
    int descriptor = open_high(path, flags);
    if (descriptor < 0 || fstat(descriptor, status) == 0)
        return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

/* Why the file at PATH could not be opened, by errno, which may mean a device that is missing. */
static int why_not_open(const char *path)
{
    int error = errno;
    struct stat status;
    bool is_pipe = error == ENXIO && stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
    return is_pipe ? REX_OUTPUT_UNREAD : error;
}

int rex_output_open(struct rex_output *output, const char *path)
{
    make_absolute(output->path, path);
    return rex_output_reopen(output);
}

int rex_output_reopen(struct rex_output *output)
{
    output->descriptor = open_file(output->path, O_CREAT, &output->status);
    return output->descriptor >= 0 ? 0 : why_not_open(output->path);
}

/*
 * By the way in which it is open, too: the program may read the very file. What cannot be told, as
 * of a file whose server is gone, is no sign: to take it for the program's would lose a descriptor
 * at each line.
 */
static bool is_own(const struct rex_output *output)
{
    struct stat status;
    int flags = O_ACCMODE | O_APPEND;
    if (fstat(output->descriptor, &status) == 0 ? !is_same(&status, &output->status)
                                                : errno == EBADF)
        return false;
    int now = fcntl(output->descriptor, F_GETFL);
    return now != -1 ? (now & flags) == (FLAGS & flags) : errno != EBADF;
}

bool rex_output_is_open(struct rex_output *output)
{
    bool is_open = output->descriptor >= 0 && is_own(output);
    if (!is_open)
        output->descriptor = -1;
    return is_open;
}

int rex_output_reopen_same(struct rex_output *output)
{
    struct stat status;
    int descriptor = open_file(output->path, 0, &status);
    if (descriptor < 0)
        return why_not_open(output->path);
    if (!is_same(&status, &output->status)) {
        close(descriptor);
        return REX_OUTPUT_REPLACED;
    }
    output->descriptor = descriptor;
    return 0;
}

int rex_output_close(struct rex_output *output)
{
    int error = rex_output_is_open(output) && close(output->descriptor) != 0 ? errno : 0;
    output->descriptor = -1;
    return error;
}

const char *rex_output_why(int error)
{
    switch (error) {
    case REX_OUTPUT_UNREAD: return "nobody reads from this pipe";
    case EPIPE: return "nobody reads from this pipe any more";
    case REX_OUTPUT_REPLACED: return "the program has closed it, and it is another file now";
    default: return strerror(error);
    }
}
