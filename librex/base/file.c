/*
 * file.c - files that are read or written, output files that stay open, and names of files.
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

#define LARGEST ((off_t)1 << 30)

/*
 * Reads the file of FD. Returns NULL on success. If a call failed, returns the name of the call,
 * with errno set. Otherwise returns another reason, with errno 0.
 */
static const char *read_open_file(int fd, struct rex_bytes *file)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return "fstat";
    errno = 0;
    if (S_ISDIR(status.st_mode))
        return "it is a directory";
    if (!S_ISREG(status.st_mode))
        return "it is not a regular file";
    if (status.st_size == 0)
        return "it is empty";
    if (status.st_size > LARGEST)
        return "it is longer than a GiB";
    size_t size = (size_t)status.st_size, have = 0;
    unsigned char *bytes = malloc(size);
    if (bytes == NULL)
        return "malloc";
    while (have < size) {
        ssize_t got = read(fd, bytes + have, size - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            int error = got < 0 ? errno : 0;
            free(bytes);
            errno = error;
            return got < 0 ? "read" : "it shrank while it was read";
        }
        have += (size_t)got;
    }
    *file = (struct rex_bytes){bytes, size, status};
    return NULL;
}

int rex_file_read(const char *path, struct rex_bytes *file, char *why, size_t why_size)
{
    /* Non-blocking: a blocking open() of a FIFO would wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const char *reason = fd < 0 ? "open" : read_open_file(fd, file);
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

int rex_file_write(int fd, const void *bytes, size_t size, size_t *done)
{
    static const struct timespec at_once = {0, 0};
    sigset_t both, one, before, pending;
    int error = 0;
    sigemptyset(&both);
    sigaddset(&both, SIGPIPE);
    sigaddset(&both, SIGXFSZ);
    sigemptyset(&pending);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &both, &before); /* in this thread only */
    for (*done = 0; *done < size && error == 0;) {
        errno = EIO; /* the error if a device writes nothing and reports no error */
        ssize_t written = write(fd, (const char *)bytes + *done, size - *done);
        if (written > 0)
            *done += (size_t)written;
        else if (errno != EINTR)
            error = errno;
    }
    /*
     * The failed write() may have sent SIGPIPE or SIGXFSZ to this thread. Remove the signal,
     * because it would end the program. If the signal was pending before the write(), leave it to
     * the program.
     */
    int number = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
    if (number != 0 && sigismember(&pending, number) == 0) {
        sigemptyset(&one);
        sigaddset(&one, number);
        sigtimedwait(&one, NULL, &at_once); /* returns at once, so never with EINTR */
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

void rex_file_say(const char *text)
{
    size_t done;
    rex_file_write(STDERR_FILENO, text, strlen(text), &done);
}

/* ---- names ----------------------------------------------------------------------------------- */

bool rex_file_name(const char *pattern, bool add_number, char path[PATH_MAX], bool *is_numbered)
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
    if (add_number && length < PATH_MAX)
        length += (size_t)snprintf(path + length, PATH_MAX - length, ".%ld", (long)getpid());
    return length < PATH_MAX;
}

void rex_folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        snprintf(folder, PATH_MAX, ".");
    else
        snprintf(folder, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

static bool is_same_inode(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

bool rex_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && is_same_inode(&one, &other);
}

/* ---- a file that stays open ------------------------------------------------------------------ */

#define FLAGS (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY)

/*
 * Smallest descriptor for output files. Few programs use so many descriptors. HIGH is below 1024,
 * the limit of select() and the usual limit of a process.
 */
#define HIGH 960

/* Opens OUTPUT->path; `flags` is 0 or O_CREAT. Returns 0 or an error for rex_output_why(). */
static int open_at_path(struct rex_output *output, int flags)
{
    struct stat status;
    /* Non-blocking for open() only: a blocking open() of a pipe would wait for a reader. */
    int descriptor = open(output->path, FLAGS | O_NONBLOCK | flags, 0666), error = errno;
    output->descriptor = -1;
    if (descriptor < 0) {
        /*
         * ENXIO means that the file is a FIFO without a reader, that it is a socket, or that its
         * device is missing.
         */
        bool is_pipe =
            error == ENXIO && stat(output->path, &status) == 0 && S_ISFIFO(status.st_mode);
        return is_pipe ? REX_OUTPUT_UNREAD : error;
    }
    /*
     * Leave low numbers to the program, which may expect them for its own files. If the limit is
     * below HIGH, use a number above 2.
     */
    int moved = fstat(descriptor, &output->status);
    if (moved == 0) {
        moved = fcntl(descriptor, F_DUPFD_CLOEXEC, HIGH);
        if (moved < 0)
            moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    }
    error = errno;
    close(descriptor);
    if (moved < 0)
        return error;
    fcntl(moved, F_SETFL, FLAGS);
    output->descriptor = moved;
    return 0;
}

int rex_output_open(struct rex_output *output, const char *pattern, bool add_number)
{
    char folder[PATH_MAX];
    const char *name = output->name;
    if (!rex_file_name(pattern, add_number, output->name, &output->is_numbered))
        return ENAMETOOLONG;
    /* A relative path stays relative if the absolute path would be too long. */
    if (*name == '/' || getcwd(folder, sizeof folder) == NULL ||
        snprintf(output->path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
        snprintf(output->path, PATH_MAX, "%s", name);
    return open_at_path(output, O_CREAT);
}

/*
 * Compares the open flags as well as the file, because the program may have opened the file again
 * for reading. Only EBADF means that the program closed the descriptor. Other errors may come from
 * the server of a network file, and the descriptor is still open. A reopen after such an error
 * would leak a descriptor for each line.
 */
bool rex_output_is_open(const struct rex_output *output)
{
    struct stat status;
    int flags = fcntl(output->descriptor, F_GETFL), own = O_ACCMODE | O_APPEND;
    if (flags == -1 || fstat(output->descriptor, &status) != 0)
        return errno != EBADF;
    return is_same_inode(&status, &output->status) && (flags & own) == (FLAGS & own);
}

int rex_output_reopen(struct rex_output *output, bool only_same)
{
    struct stat before = output->status;
    int error = open_at_path(output, only_same ? 0 : O_CREAT);
    if (error != 0 || !only_same || is_same_inode(&before, &output->status))
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
    case REX_OUTPUT_UNREAD: return "the pipe has no reader";
    case EPIPE: return "the pipe no longer has a reader";
    case REX_OUTPUT_REPLACED:
        return "the program has closed librex's file descriptor, and the path now leads to "
               "another file";
    case REX_OUTPUT_WRITTEN:
        return "the program has closed librex's file descriptor, and the file has been written to "
               "or cut since";
    case REX_OUTPUT_LOCKED: return "another process writes to this file: put %p into the name";
    default: return strerror(error);
    }
}
