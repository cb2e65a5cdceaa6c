/*
 * streamtrace.h - the time that work takes in a stream: each piece is between two events, which
 * tell it after it is done.
 *
 * The caller locks the stream. A failure here only fails the trace, with no message and no result.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_STREAMTRACE_H
#define REX_INTERNAL_STREAMTRACE_H

#include <stddef.h>

#include "trace/trace.h"

struct rex_stream_trace;

/*
 * A trace of *STREAM, which is empty, with a track of this NAME; its context is current. STREAM is
 * NULL where there is none: then there is the track alone. The caller frees it. NULL: no memory.
 */
struct rex_stream_trace *rex_stream_trace_new(void *const *stream, const char *name);
struct rex_track *rex_stream_track(struct rex_stream_trace *trace);

/* ---- the context of the stream is current ---------------------------------------------------- */

/*
 * Whether the trace should catch up before the next piece of work: it has no room for one, or the
 * stream is empty and the clocks have not been compared for long. To catch up may be to wait for
 * the stream.
 */
bool rex_stream_trace_is_behind(const struct rex_stream_trace *trace);
void rex_stream_trace_catch_up(struct rex_stream_trace *trace);

/*
 * Call before and after a piece of work is put in the stream. SLICE tells what it is, without its
 * time; what it names stays until the work is written. Its name is NULL for a graph of so many
 * LAUNCHES. Work that is begun and not ended is not in the trace.
 */
void rex_stream_trace_begin(struct rex_stream_trace *trace);
void rex_stream_trace_end(struct rex_stream_trace *trace, const struct rex_slice *slice,
                          size_t launches);

/* Write all work that is done. */
void rex_stream_trace_write(struct rex_stream_trace *trace);

/* Destroy the events before the stream ends. TRACE may be NULL. */
void rex_stream_trace_close(struct rex_stream_trace *trace);

#endif
