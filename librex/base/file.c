/*
 * file.c - read a file; write to one; names of files that have the number of the process in them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int failed(const char *what, char *why, size_t why_size)
{
    int error = errno;
    snprintf(why, why_size, "%s: %s", what, strerror(error));
    errno = error;
    return -1;
}

static int refused(const char *because, char *why, size_t why_size)
{
    snprintf(why, why_size, "%s", because);
    errno = 0;
    return -1;
}

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

static int read_open(int fd, struct rex_bytes *file, char *why, size_t why_size)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return failed("fstat", why, why_size);
    if (S_ISDIR(status.st_mode))
        return refused("it is a directory", why, why_size);
    if (!S_ISREG(status.st_mode))
        return refused("it is not a regular file", why, why_size);
    if (status.st_size == 0)
        return refused("it is empty", why, why_size);
    if (status.st_size > LARGEST)
        return refused("it is longer than a GiB", why, why_size);
    size_t size = (size_t)status.st_size;
    unsigned char *bytes = malloc(size);
    if (bytes == NULL)
        return failed("malloc", why, why_size);
    ssize_t got = read_all(fd, bytes, size);
    if (got != (ssize_t)size) {
        int result = got < 0 ? failed("read", why, why_size)
                             : refused("it shrank while it was read", why, why_size);
        free(bytes);
        return result;
    }
    *file = (struct rex_bytes){bytes, size, status};
    return 0;
}

int rex_file_read(const char *path, struct rex_bytes *file, char *why, size_t why_size)
{
    /* Non-blocking, so that a FIFO is refused below instead of waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return failed("open", why, why_size);
    int result = read_open(fd, file, why, why_size);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The signals that a write may raise, blocked for this thread alone. */
struct blocked {
    sigset_t before, pending;
};

static void block(struct blocked *blocked)
{
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGPIPE);
    sigaddset(&both, SIGXFSZ);
    sigemptyset(&blocked->pending);
    sigpending(&blocked->pending);
    pthread_sigmask(SIG_BLOCK, &both, &blocked->before);
}

/* The signal that came with ERROR is taken, but one that was there before is the program's. */
static void unblock(const struct blocked *blocked, int error)
{
    static const struct timespec at_once = {0, 0};
    int number = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
    if (number != 0 && sigismember(&blocked->pending, number) == 0) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, number);
        while (sigtimedwait(&one, NULL, &at_once) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &blocked->before, NULL);
}

int rex_file_write(int fd, const void *bytes, size_t size, size_t *done)
{
    struct blocked blocked;
    int error = 0;
    block(&blocked);
    for (*done = 0; *done < size && error == 0;) {
        ssize_t written = write(fd, (const char *)bytes + *done, size - *done);
        *done += written > 0 ? (size_t)written : 0;
        if (written == 0)
            error = EIO;
        else if (written < 0 && errno != EINTR)
            error = errno;
    }
    unblock(&blocked, error);
    return error;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* TEXT goes to PATH at *LENGTH, as much of it as there is room for. */
static bool add(char path[PATH_MAX], size_t *length, const char *text, size_t size)
{
    size_t room = PATH_MAX - 1 - *length, copied = size < room ? size : room;
    memcpy(path + *length, text, copied);
    *length += copied;
    path[*length] = '\0';
    return copied == size;
}

bool rex_file_name(const char *pattern, char path[PATH_MAX], bool *is_numbered)
{
    char number[24];
    int digits = snprintf(number, sizeof number, "%ld", (long)getpid());
    size_t length = 0;
    bool fits = true;
    *is_numbered = false;
    for (const char *from = pattern; *from != '\0' && fits; from++) {
        bool is_number = from[0] == '%' && from[1] == 'p';
        bool is_double = is_number || (from[0] == '%' && from[1] == '%');
        fits = is_number ? add(path, &length, number, (size_t)digits) : add(path, &length, from, 1);
        from += is_double;
        *is_numbered = *is_numbered || is_number;
    }
    return fits;
}

bool rex_file_number(char path[PATH_MAX])
{
    char number[24];
    int size = snprintf(number, sizeof number, ".%ld", (long)getpid());
    size_t length = strlen(path);
    return length + (size_t)size < PATH_MAX && add(path, &length, number, (size_t)size);
}
