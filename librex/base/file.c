/*
 * file.c - read a file; write to one; keep one open that is written at its end; names of files and
 * folders, also with the number of the process in them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* SIZE bytes, or fewer where the file shrank while it was read. */
static ssize_t read_all(int fd, unsigned char *bytes, size_t size)
{
    size_t have = 0;
    while (have < size) {
        ssize_t got = read(fd, bytes + have, size - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

#define LARGEST ((off_t)1 << 30)

/* Why a file with STATUS is not read; NULL where it can be. */
static const char *against(const struct stat *status)
{
    return S_ISDIR(status->st_mode)    ? "it is a directory"
           : !S_ISREG(status->st_mode) ? "it is not a regular file"
           : status->st_size == 0      ? "it is empty"
           : status->st_size > LARGEST ? "it is longer than a GiB"
                                       : NULL;
}

/*
 * NULL; or the call that failed, with errno set; or with errno 0 the reason why nothing was read.
 */
static const char *read_open(int fd, struct rex_bytes *file)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return "fstat";
    errno = 0;
    if (against(&status) != NULL)
        return against(&status);
    size_t size = (size_t)status.st_size;
    unsigned char *bytes = malloc(size);
    if (bytes == NULL)
        return "malloc";
    ssize_t got = read_all(fd, bytes, size);
    if (got == (ssize_t)size) {
        *file = (struct rex_bytes){bytes, size, status};
        return NULL;
    }
    int error = got < 0 ? errno : 0;
    free(bytes);
    errno = error;
    return got < 0 ? "read" : "it shrank while it was read";
}

int rex_file_read(const char *path, struct rex_bytes *file, char *why, size_t why_size)
{
    /* Non-blocking, so that a FIFO is refused below instead of waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const char *reason = fd < 0 ? "open" : read_open(fd, file);
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (reason == NULL)
        return 0;
    snprintf(why, why_size, "%s%s%s", reason, error != 0 ? ": " : "",
             error != 0 ? strerror(error) : "");
    errno = error;
    return -1;
}

/* ---- writing --------------------------------------------------------------------------------- */

/*
 * The signal that came with ERROR is taken, but one that was PENDING before is the program's. A
 * call that does not wait is not interrupted.
 */
static void take_signal(int error, const sigset_t *pending)
{
    static const struct timespec at_once = {0, 0};
    int number = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
    sigset_t one;
    if (number == 0 || sigismember(pending, number) != 0)
        return;
    sigemptyset(&one);
    sigaddset(&one, number);
    sigtimedwait(&one, NULL, &at_once);
}

int rex_file_write(int fd, const void *bytes, size_t size, size_t *done)
{
    sigset_t both, before, pending;
    int error = 0;
    sigemptyset(&both);
    sigaddset(&both, SIGPIPE);
    sigaddset(&both, SIGXFSZ);
    sigemptyset(&pending);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &both, &before); /* of this thread alone */
    for (*done = 0; *done < size && error == 0;) {
        errno = EIO; /* stays where a device takes nothing and tells no error */
        ssize_t written = write(fd, (const char *)bytes + *done, size - *done);
        if (written > 0)
            *done += (size_t)written;
        else if (errno != EINTR)
            error = errno;
    }
    take_signal(error, &pending);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

void rex_file_say(const char *text)
{
    size_t done;
    rex_file_write(STDERR_FILENO, text, strlen(text), &done);
}

/* ---- names ----------------------------------------------------------------------------------- */

bool rex_file_name(const char *pattern, char path[PATH_MAX], bool *is_numbered)
{
    size_t length = 0;
    *is_numbered = false;
    path[0] = '\0';
    for (const char *from = pattern; *from != '\0' && length < PATH_MAX; from++) {
        bool is_number = strncmp(from, "%p", 2) == 0;
        bool is_double = is_number || strncmp(from, "%%", 2) == 0;
        size_t room = PATH_MAX - length;
        length += (size_t)(is_number ? snprintf(path + length, room, "%ld", (long)getpid())
                                     : snprintf(path + length, room, "%c", *from));
        from += is_double;
        *is_numbered = *is_numbered || is_number;
    }
    return length < PATH_MAX;
}

bool rex_file_number(char path[PATH_MAX])
{
    char number[24];
    int size = snprintf(number, sizeof number, ".%ld", (long)getpid());
    bool fits = strlen(path) + (size_t)size < PATH_MAX;
    if (fits)
        strcat(path, number);
    return fits;
}

void rex_folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        snprintf(folder, PATH_MAX, ".");
    else
        snprintf(folder, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

static bool is_same(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

bool rex_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && is_same(&one, &other);
}

/* ---- a file that stays open ------------------------------------------------------------------ */

#define FLAGS (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY)

/* Above what programs use, and below the 1024 that select() knows and that is the usual limit. */
#define HIGH 960

/*
 * DESCRIPTOR under a number that no program counts on, as on the one of the file that it opens
 * first; where the limit is too low, at least not under 0 to 2. -1 and errno where it can have no
 * such number, or its STATUS is not to be had.
 */
static int move_away(int descriptor, struct stat *status)
{
    int moved = fstat(descriptor, status);
    if (moved == 0) {
        moved = fcntl(descriptor, F_DUPFD_CLOEXEC, HIGH);
        if (moved < 0)
            moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    int error = errno;
    close(descriptor);
    errno = error;
    return moved;
}

/* Why the file at PATH could not be opened, by errno, which may mean a device that is missing. */
static int why_not_open(const char *path)
{
    int error = errno;
    struct stat status;
    bool is_pipe = error == ENXIO && stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
    return is_pipe ? REX_OUTPUT_UNREAD : error;
}

/*
 * Non-blocking for open() alone, which would wait for a pipe's reader: a slow reader loses nothing.
 */
static int open_path(struct rex_output *output, int flags)
{
    int descriptor = open(output->path, FLAGS | O_NONBLOCK | flags, 0666);
    output->descriptor = descriptor < 0 ? descriptor : move_away(descriptor, &output->status);
    if (output->descriptor < 0)
        return why_not_open(output->path);
    fcntl(output->descriptor, F_SETFL, FLAGS);
    return 0;
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

int rex_output_open(struct rex_output *output, const char *pattern, bool add_number)
{
    if (!rex_file_name(pattern, output->name, &output->is_numbered) ||
        (add_number && !rex_file_number(output->name)))
        return ENAMETOOLONG;
    make_absolute(output->path, output->name);
    return open_path(output, O_CREAT);
}

/*
 * By the way in which it is open, too: the program may read the very file. An error is no sign, as
 * of a file whose server is gone: to take it for the program's would lose a descriptor at each
 * line.
 */
bool rex_output_is_open(const struct rex_output *output)
{
    struct stat status;
    int flags = fcntl(output->descriptor, F_GETFL), own = O_ACCMODE | O_APPEND;
    if (flags == -1 || fstat(output->descriptor, &status) != 0)
        return errno != EBADF;
    return is_same(&status, &output->status) && (flags & own) == (FLAGS & own);
}

int rex_output_reopen(struct rex_output *output, bool only_same)
{
    struct stat before = output->status;
    int error = open_path(output, only_same ? 0 : O_CREAT);
    if (error != 0 || !only_same || is_same(&before, &output->status))
        return error;
    rex_output_close(output);
    return REX_OUTPUT_REPLACED;
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
