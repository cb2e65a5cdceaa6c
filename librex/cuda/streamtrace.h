/*
 * streamtrace.h - measures how long each piece of work takes in a stream. A piece of work is a
 * kernel, a copy or a graph. The trace records an event before and an event after each piece.
 *
 * Lock the stream before you call one of these functions. If a call fails, the trace lacks the
 * piece. The call reports no message and no error.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_STREAMTRACE_H
#define REX_INTERNAL_STREAMTRACE_H

#include <stddef.h>

#include "trace/trace.h"

struct rex_stream_trace;

/*
 * Makes a trace of *STREAM, with a track called NAME. Call this only while the context of *STREAM
 * is current and *STREAM has no unfinished work. If STREAM is NULL, the trace has a track, but
 * measures nothing. Free the trace with free(). Returns NULL if memory is short.
 */
struct rex_stream_trace *rex_stream_trace_new(void *const *stream, const char *name);
struct rex_track *rex_stream_track(struct rex_stream_trace *trace);

/* ---- calls in the context of the stream ------------------------------------------------------ */

/*
 * Returns true if the caller must call rex_stream_trace_catch_up() before the next piece of work.
 * The trace has a ring of pieces that are not written yet. The call is necessary if the ring is
 * full. The call is also necessary if the ring is empty and the last comparison of the GPU's clock
 * and the host's clock is older than a second.
 *
 * If the ring is empty, rex_stream_trace_catch_up() compares the clocks. If the ring is not empty,
 * the function waits for the oldest piece, and writes all pieces that are done.
 */
bool rex_stream_trace_is_behind(const struct rex_stream_trace *trace);
void rex_stream_trace_catch_up(struct rex_stream_trace *trace);

/*
 * Call rex_stream_trace_begin() before a piece of work, and rex_stream_trace_end() after the piece.
 * Each of the two calls records an event in the stream. A piece without a second event is not in
 * the trace. SLICE describes the piece, except its times. The strings of SLICE must stay valid
 * until the piece is written. If SLICE has no name, the piece is a graph of LAUNCHES launches.
 */
void rex_stream_trace_begin(struct rex_stream_trace *trace);
void rex_stream_trace_end(struct rex_stream_trace *trace, const struct rex_slice *slice,
                          size_t launches);

/* Writes all pieces of work that are done. */
void rex_stream_trace_write(struct rex_stream_trace *trace);

/* Destroys the events. Call this before the stream is destroyed. TRACE may be NULL. */
void rex_stream_trace_close(struct rex_stream_trace *trace);

#endif
