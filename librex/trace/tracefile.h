/*
 * tracefile.h - the file of a timeline. Not locked: trace.c does that.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_TRACEFILE_H
#define REX_INTERNAL_TRACEFILE_H

#include <stdbool.h>

#include "trace/trace.h"

/* Open the file that NAME says, with %p and %%. false after a warning. */
bool rex_trace_file_open(const char *name);

/* In a child of fork that has no file yet: open its own. false after a warning. */
bool rex_trace_file_open_in_child(void);

/* What TRACK is called. From a failure on nothing is written. */
void rex_trace_file_track(uint32_t track, const char *name);

/* SLICE on TRACK; on a device's it has no details. */
void rex_trace_file_slice(const struct rex_slice *slice, uint32_t track, bool on_device);

/* The end of the array. */
void rex_trace_file_close(void);

/* In a child of fork: the file is the parent's, and so is what is not written yet. */
void rex_trace_file_forget(void);

#endif
