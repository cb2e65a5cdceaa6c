/*
 * file.h - files that are read or written, output files that stay open, and names of files.
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
    struct stat status; /* from fstat(), before the read */
};

/*
 * Reads the whole regular file PATH. Refuses more than 1 GiB, so that a wrong name cannot take all
 * memory. Returns 0, or -1 with the reason in WHY and errno set. errno is 0 if no system call
 * failed.
 */
int rex_file_read(const char *path, struct rex_bytes *file, char *why, size_t why_size);

/*
 * Writes the SIZE bytes at BYTES to FD. *DONE becomes the number of bytes written. Returns 0 or an
 * errno value. The program gets neither SIGPIPE nor SIGXFSZ. Changes errno.
 */
int rex_file_write(int fd, const void *bytes, size_t size, size_t *done);

/*
 * Writes TEXT to standard error. TEXT is lost if the program has closed descriptor 2 or opened it
 * for reading. Changes errno.
 */
void rex_file_say(const char *text);

/*
 * Copies PATTERN to PATH, and replaces %p by the process ID and %% by %. *IS_NUMBERED becomes true
 * if PATTERN has a %p, otherwise false. If ADD_NUMBER is true, appends "." and the process ID. If
 * the name is too long, returns false, and PATH has the beginning of the name.
 */
bool rex_file_name(const char *pattern, bool add_number, char path[PATH_MAX], bool *is_numbered);

/* Returns true if A and B name one existing file. */
bool rex_same_file(const char *a, const char *b);

/*
 * Writes the folder of PATH to FOLDER, without a '/' at the end unless the folder is "/". Writes
 * "." if PATH has no '/'.
 */
void rex_folder_of(const char *path, char folder[PATH_MAX]);

/*
 * A file that librex keeps open and appends to. The program may close the descriptor, and the next
 * file that the program opens may get the descriptor's number. So librex checks the descriptor
 * before each use. librex cannot detect that another thread closes the descriptor between check and
 * use.
 */
struct rex_output {
    /*
     * -1: no file. A descriptor is above 2, and at least 960 if the limit of open files allows 960.
     */
    int descriptor;
    bool is_numbered;    /* the pattern of the name has a %p */
    char name[PATH_MAX]; /* the path as given, for messages */
    char path[PATH_MAX]; /* the absolute path: the program may change its working folder */
    struct stat status;  /* from fstat(), when the file was opened */
};

/*
 * Opens a file for OUTPUT. Call this only if OUTPUT has no open file. rex_file_name() makes the
 * file's name from PATTERN and ADD_NUMBER. Creates the file if it does not exist. If the file is a
 * pipe without a reader, does not wait, and returns an error. Returns 0 or an error for
 * rex_output_why().
 */
int rex_output_open(struct rex_output *output, const char *pattern, bool add_number);

/* Returns true if the descriptor of OUTPUT still refers to its file. */
bool rex_output_is_open(const struct rex_output *output);

/*
 * Opens the path of OUTPUT again. Call this if the program has closed the file. If ONLY_SAME is
 * true, fails unless the path still names the same file. If ONLY_SAME is false, creates a missing
 * file. Returns 0 or an error for rex_output_why().
 */
int rex_output_reopen(struct rex_output *output, bool only_same);

/* Closes the file of OUTPUT unless the program has closed it. Returns 0 or an errno value. */
int rex_output_close(struct rex_output *output);

/*
 * Errors that are not errno values. REX_OUTPUT_REPLACED: the path now names another file.
 * REX_OUTPUT_WRITTEN: the file's size has changed. REX_OUTPUT_UNREAD: a pipe has no reader.
 * REX_OUTPUT_LOCKED: another process has locked the file.
 */
#define REX_OUTPUT_REPLACED (-1)
#define REX_OUTPUT_UNREAD (-2)
#define REX_OUTPUT_WRITTEN (-3)
#define REX_OUTPUT_LOCKED (-4)

/* Returns the text for ERROR, an errno value or one of the four errors above. */
const char *rex_output_why(int error);

#endif
