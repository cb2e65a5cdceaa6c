/*
 * tell.h - logs at the level info which libomptarget rex-run has chosen, and why.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_TELL_H
#define REX_RUN_TELL_H

#include <stdbool.h>

/* Returns true if librex logs lines of the level info. */
bool is_told(void);

/* Stores a line for write_told(). Replaces the line that an earlier call has stored. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Writes the stored line to librex's log. Call this function only in the process that starts the
 * program with execv().
 */
void write_told(void);

#endif
