/*
 * output.h - a file that librex keeps open, and writes to at its end.
 *
 * A program may close any descriptor, all of them at once too, and have another file under the
 * number then. So the descriptor is looked at before each use: by another thread it can be closed
 * in the instant between, which nobody can see.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_OUTPUT_H
#define REX_INTERNAL_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct rex_output {
    int descriptor;      /* -1: none. Never 0 to 2, and a high one where the limits allow that */
    char path[PATH_MAX]; /* absolute, since the program may change its folder */
    struct stat status;  /* of the file, when it was opened */
};

/*
 * OUTPUT, which has no file, gets that at PATH, which is made where there is none. 0, or the number
 * of an error for rex_output_why(). A pipe without a reader is an error: nobody waits for one.
 */
int rex_output_open(struct rex_output *output, const char *path);

/* Whether OUTPUT still has its file. If not it has none from now on. */
bool rex_output_is_open(struct rex_output *output);

/*
 * OUTPUT, whose file the program has closed, gets the one that has its path now, which is made
 * where there is none. 0, or an error.
 */
int rex_output_reopen(struct rex_output *output);

/* The same, but only the very file that it had: nothing is made. */
int rex_output_reopen_same(struct rex_output *output);

/* Closes what is librex's own. 0, or an error. */
int rex_output_close(struct rex_output *output);

/* Errors that are none of the system's: librex's own file is not there any more; a pipe is no use.
 */
#define REX_OUTPUT_REPLACED (-1)
#define REX_OUTPUT_UNREAD (-2)

/* The sentence for ERROR. */
const char *rex_output_why(int error);

#endif
