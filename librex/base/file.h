/*
 * file.h - read a whole file.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FILE_H
#define REX_INTERNAL_FILE_H

#include <stddef.h>
#include <sys/stat.h>

struct rex_bytes {
    unsigned char *bytes; /* malloc'ed */
    size_t size;
    struct stat status; /* of the very file that was read */
};

/*
 * Read the regular file PATH whole. 0, or -1 with the reason in WHY and errno set (0 where no call
 * failed).
 */
int rex_file_read(const char *path, struct rex_bytes *file, char *why, size_t why_size);

/* The same of a file that is open as FD, and stays so. */
int rex_file_read_open(int fd, struct rex_bytes *file, char *why, size_t why_size);

#endif
