/*
 * die.h - ends rex-run after an error of its own.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_DIE_H
#define REX_RUN_DIE_H

#include <limits.h>

/* Exit statuses of rex-run itself; env(1) and nohup(1) use these numbers. */
enum { NOT_RUN = 125, REFUSED = 126, NOT_FOUND = 127 };

/* Writes "rex-run: MESSAGE" to standard error, and exits with STATUS. */
void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/*
 * Makes die() call TIDY before it exits. TIDY replaces the function of an earlier
 * tidy_before_death().
 */
void tidy_before_death(void (*tidy)(void));

/* Formats a path; exits if the path is longer than the system allows. */
void path_of(char path[PATH_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
