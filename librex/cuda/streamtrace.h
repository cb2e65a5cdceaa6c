/*
 * streamtrace.h - measures how long work takes in a stream, by an event before and an event after
 * each piece of work.
 *
 * The caller holds the stream's lock. If a call fails, the work is missing in the trace: there is
 * no message and no error.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_STREAMTRACE_H
#define REX_INTERNAL_STREAMTRACE_H

#include <stddef.h>

#include "trace/trace.h"

struct rex_stream_trace;

/*
 * Makes a trace of *STREAM, with a track called NAME. *STREAM is empty, and its context is current.
 * If STREAM is NULL, the trace has only a track. The caller frees the trace with free(). Returns
 * NULL if memory is short.
 */
struct rex_stream_trace *rex_stream_trace_new(void *const *stream, const char *name);
struct rex_track *rex_stream_track(struct rex_stream_trace *trace);

/* ---- calls in the context of the stream ------------------------------------------------------ */

/*
 * Returns true if the trace should catch up before the next piece of work: if the ring is full, or
 * if the ring is empty and the clocks were compared more than a second ago.
 * rex_stream_trace_catch_up() may wait for the stream.
 */
bool rex_stream_trace_is_behind(const struct rex_stream_trace *trace);
void rex_stream_trace_catch_up(struct rex_stream_trace *trace);

/*
 * rex_stream_trace_begin() records the event before a piece of work, rex_stream_trace_end() the
 * event after the work. Work without its second event is not in the trace. SLICE describes the
 * work, without its times. The strings of SLICE stay valid until the work is written. If SLICE has
 * no name, the work is a graph of LAUNCHES launches.
 */
void rex_stream_trace_begin(struct rex_stream_trace *trace);
void rex_stream_trace_end(struct rex_stream_trace *trace, const struct rex_slice *slice,
                          size_t launches);

/* Writes all work that is done. */
void rex_stream_trace_write(struct rex_stream_trace *trace);

/* Destroys the events, before the stream is destroyed. TRACE may be NULL. */
void rex_stream_trace_close(struct rex_stream_trace *trace);

#endif
