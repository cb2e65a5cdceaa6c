/*
 * tell.h - what rex-run has decided, at the log's level info.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_TELL_H
#define REX_RUN_TELL_H

#include <stdbool.h>

/* Whether the log has lines of the level info. */
bool is_told(void);

/* Keep a line for the log, in the place of the one before. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Write the line where librex writes: called by the process that becomes the program. */
void write_told(void);

#endif
