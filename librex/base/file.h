/*
 * file.h - read a file; write to one; keep one open that is written at its end; names of files and
 * folders, also with the number of the process in them.
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
 * TEXT goes to standard error. The program may have closed that, or may read another file there:
 * then it is lost. So is errno.
 */
void rex_file_say(const char *text);

/*
 * PATH becomes PATTERN with the number of this process for %p, and % for %%; IS_NUMBERED tells
 * whether there was a %p. With ADD_NUMBER it ends in ".N", the number of this process. false: it is
 * too long, and PATH has its beginning.
 */
bool rex_file_name(const char *pattern, bool add_number, char path[PATH_MAX], bool *is_numbered);

/* Whether both paths lead to one existing file. */
bool rex_same_file(const char *a, const char *b);

/* Folder of PATH, without the last '/'. */
void rex_folder_of(const char *path, char folder[PATH_MAX]);

/*
 * A file that librex keeps open, and writes to at its end. A program may close any descriptor, all
 * of them at once too, and have another file under the number then. So librex looks at the
 * descriptor before each use. It cannot see what another thread closes between the look and the
 * use.
 */
struct rex_output {
    int descriptor;      /* -1: none. Never 0 to 2, and a high one where the limits allow that */
    bool is_numbered;    /* its name has the number of the process */
    char name[PATH_MAX]; /* as it was given, for messages */
    char path[PATH_MAX]; /* absolute, since the program may change its folder */
    struct stat status;  /* of the file, when it was opened */
};

/*
 * OUTPUT, which has no file, gets the one that PATTERN names, with ".N" behind the name where
 * ADD_NUMBER says so. The file is made where there is none. 0, or the number of an error for
 * rex_output_why(). A pipe without a reader is an error: librex does not wait for one.
 */
int rex_output_open(struct rex_output *output, const char *pattern, bool add_number);

/* Whether OUTPUT still has its file. */
bool rex_output_is_open(const struct rex_output *output);

/*
 * OUTPUT, whose file the program has closed, gets the one that has its path now. ONLY_SAME: it has
 * to be the very file that it was; else it is made where there is none. 0, or an error.
 */
int rex_output_reopen(struct rex_output *output, bool only_same);

/* Closes what is librex's own. 0, or an error. */
int rex_output_close(struct rex_output *output);

/* Errors that are none of the system's: another file has the path now; a pipe has no reader. */
#define REX_OUTPUT_REPLACED (-1)
#define REX_OUTPUT_UNREAD (-2)

/* The sentence for ERROR. */
const char *rex_output_why(int error);

#endif
