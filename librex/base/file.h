/*
 * file.h - read a file; write to one; names of files that have the number of the process in them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FILE_H
#define REX_INTERNAL_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct rex_bytes {
    unsigned char *bytes; /* malloc'ed */
    size_t size;
    struct stat status; /* of the very file that was read */
};

/*
 * Read the whole of the regular file PATH, which may be as long as a GiB: a mistaken name must not
 * take all memory. 0, or -1 with the reason in WHY and errno set (0 where no call failed).
 */
int rex_file_read(const char *path, struct rex_bytes *file, char *why, size_t why_size);

/*
 * Write all SIZE BYTES: 0, or the number of an error. *DONE is how many were written. Neither
 * SIGPIPE nor SIGXFSZ comes of it, whatever the program does with them. errno is lost.
 */
int rex_file_write(int fd, const void *bytes, size_t size, size_t *done);

/*
 * PATH becomes PATTERN with the number of this process for %p, and % for %%; IS_NUMBERED tells
 * whether there was a %p. false: it is too long, and PATH has its beginning.
 */
bool rex_file_name(const char *pattern, char path[PATH_MAX], bool *is_numbered);

/* Have ".N" behind PATH, the number of this process. false: it is too long, and PATH stays. */
bool rex_file_number(char path[PATH_MAX]);

#endif
