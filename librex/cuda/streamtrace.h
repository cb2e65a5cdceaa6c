/*
 * streamtrace.h - the time that work takes in a stream, measured by an event before and an event
 * after each piece.
 *
 * The caller holds the stream's lock. If a call fails, only the trace lacks work: there is no
 * message and no error.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_STREAMTRACE_H
#define REX_INTERNAL_STREAMTRACE_H

#include <stddef.h>

#include "trace/trace.h"

struct rex_stream_trace;

/*
 * Makes a trace of *STREAM, which is empty, with a track of this NAME. The context of *STREAM is
 * current. If STREAM is NULL, the trace has a track alone. The caller frees it with free(). Returns
 * NULL if memory is short.
 */
struct rex_stream_trace *rex_stream_trace_new(void *const *stream, const char *name);
struct rex_track *rex_stream_track(struct rex_stream_trace *trace);

/* ---- calls in the context of the stream ------------------------------------------------------ */

/*
 * Returns true if the trace should catch up before the next piece of work. It has no room for the
 * piece, or the stream is empty and the clocks were last compared long ago.
 * rex_stream_trace_catch_up() may wait for the stream.
 */
bool rex_stream_trace_is_behind(const struct rex_stream_trace *trace);
void rex_stream_trace_catch_up(struct rex_stream_trace *trace);

/*
 * Marks the begin, or the end, of a piece of work, before and after it is put in the stream. SLICE
 * describes the work, without its time. Its strings stay valid until the work is written. If its
 * name is NULL, the work is a graph of LAUNCHES launches. Work that is begun and not ended is not
 * in the trace.
 */
void rex_stream_trace_begin(struct rex_stream_trace *trace);
void rex_stream_trace_end(struct rex_stream_trace *trace, const struct rex_slice *slice,
                          size_t launches);

/* Writes all work that is done. */
void rex_stream_trace_write(struct rex_stream_trace *trace);

/* Destroys the events, before the stream is destroyed. TRACE may be NULL. */
void rex_stream_trace_close(struct rex_stream_trace *trace);

#endif
