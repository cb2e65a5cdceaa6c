/*
 * tell.h - logs at the level info which libomptarget rex-run has chosen, and why.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_TELL_H
#define REX_RUN_TELL_H

#include <stdbool.h>

/* Returns true if the log has lines of the level info. */
bool is_told(void);

/* Keeps a line for the log. Replaces the line of an earlier call. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Writes the line to librex's log. Only the process that becomes the program calls this function.
 */
void write_told(void);

#endif
