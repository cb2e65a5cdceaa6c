/*
 * die.h - how rex-run itself ends where it cannot go on.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_DIE_H
#define REX_RUN_DIE_H

#include <limits.h>

/* Exit statuses of rex-run itself, as env(1) and nohup(1) have them. */
enum { NOT_RUN = 125, REFUSED = 126, NOT_FOUND = 127 };

/* "rex-run: MESSAGE" to standard error; exits with STATUS. */
void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Have die() call TIDY before it exits. There is one such function. */
void tidy_before_death(void (*tidy)(void));

/* Room for a formatted path of any length that the system takes; exits where it is longer. */
void path_of(char path[PATH_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
