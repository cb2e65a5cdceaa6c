/*
 * tracefile.h - the file of a timeline. Not locked: trace.c does that.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TRACEFILE_H
#define REX_INTERNAL_TRACEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Open the file that SETTING names. FORKED: in a child of the process that had it. 0, or -1 after a
 * warning.
 */
int rex_trace_file_open(const char *setting, bool forked);

/*
 * Room for a line of REX_LINE_MAX bytes, NULL if there is no file any more; then say how long it
 * became. NOW is in nanoseconds.
 */
char *rex_trace_file_room(void);
void rex_trace_file_wrote(size_t length, uint64_t now);

/* The end of the array. */
void rex_trace_file_close(void);

/* In a child of fork: the file is the parent's, and so is what is not written yet. */
void rex_trace_file_forget(void);

#endif
