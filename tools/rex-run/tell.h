/*
 * tell.h - logs the decision of rex-run, at the level info.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_TELL_H
#define REX_RUN_TELL_H

#include <stdbool.h>

/* Returns true if the log has lines of the level info. */
bool is_told(void);

/* Keeps a line for the log, in place of an earlier one. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes the line to librex's log. Only the process that becomes the program calls it. */
void write_told(void);

#endif
