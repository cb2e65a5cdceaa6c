/*
 * streamtrace.c - measures how long work takes in a stream. A ring holds the pieces of work that
 * are not written to the trace yet, each with two events.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/streamtrace.h"

#include <stdio.h>
#include <stdlib.h>

#include "cuda/driver.h"

#define TIMED_MOST 1024 /* maximum number of pieces of work in the ring */
/*
 * The clocks of the GPU and the host are compared again after this time in nanoseconds, because the
 * clocks drift apart.
 */
#define ANCHOR_AGE UINT64_C(1000000000)

/* A piece of work, such as a kernel, a copy or a graph, between two events in the stream. */
struct timed {
    void *begin, *end;
    /* the slice for the trace, without its times; `slice.name` is NULL if the work is a graph */
    struct rex_slice slice;
    size_t launches; /* if the work is a graph: number of its launches */
};

struct rex_stream_trace {
    struct rex_track track;
    char name[96];
    /* The fields below are used only if rex_stream_trace_new() was given a stream. */
    void *stream;
    bool is_blind;    /* the driver can no longer measure times */
    bool is_begun;    /* the first event of the next piece of work is recorded */
    void *base;       /* an event that is done; the times of later events are measured from it */
    uint64_t base_at; /* the time of `base` by the host's clock, in nanoseconds */
    /* time when the clocks were last compared, by the host's clock, in nanoseconds */
    uint64_t anchored;
    uint32_t first, count; /* index of the oldest piece of work in the ring; number of pieces */
    struct timed ring[];
};

/* ---- events ---------------------------------------------------------------------------------- */

/* Makes an event in *MADE, unless *MADE is an event already. Returns false on failure. */
static bool make_trace_event(void **made)
{
    if (*made == NULL && rex_driver.cuEventCreate(made, 0) != 0)
        *made = NULL;
    return *made != NULL;
}

/* Compares the clocks of the GPU and the host. Call this only if the stream is idle. */
static void anchor_clocks(struct rex_stream_trace *trace)
{
    trace->is_blind = trace->is_blind || !make_trace_event(&trace->base) ||
                      rex_driver.cuEventRecord(trace->base, trace->stream) != 0 ||
                      rex_driver.cuEventSynchronize(trace->base) != 0;
    trace->base_at = trace->anchored = rex_trace_clock();
}

/*
 * Writes the time from event BEGIN to event END to *NANOSECONDS. Writes 0 if the time is negative.
 * Returns false if the driver cannot measure the time.
 */
static bool time_between(void *begin, void *end, uint64_t *nanoseconds)
{
    float milliseconds;
    if (rex_driver.cuEventElapsedTime(&milliseconds, begin, end) != 0)
        return false;
    *nanoseconds = milliseconds > 0 ? (uint64_t)((double)milliseconds * 1e6) : 0;
    return true;
}

/* ---- the ring -------------------------------------------------------------------------------- */

/*
 * Writes the oldest piece of work to the trace, and removes it from the ring. Call this only if the
 * piece is done. The times of later pieces are measured from the end of this piece.
 */
static void write_oldest(struct rex_stream_trace *trace)
{
    struct timed *timed = &trace->ring[trace->first];
    struct rex_slice slice = timed->slice;
    uint64_t waited = 0, took = 0;
    char graph[48];
    snprintf(graph, sizeof graph, "graph of %zu launches", timed->launches);
    if (time_between(trace->base, timed->begin, &waited) &&
        time_between(timed->begin, timed->end, &took)) {
        slice.track = &trace->track;
        slice.begin = trace->base_at + waited;
        slice.end = slice.begin + took;
        slice.by = slice.counted == REX_COUNTED_KERNEL ? REX_TRACE_DRIVER : NULL;
        if (slice.name == NULL)
            slice.name = graph;
        rex_trace_slice(&slice);
        void *base = trace->base;
        trace->base = timed->end;
        trace->base_at = slice.end;
        timed->end = base;
    }
    trace->first = (trace->first + 1) % TIMED_MOST;
    trace->count--;
}

void rex_stream_trace_write(struct rex_stream_trace *trace)
{
    while (trace->count > 0) {
        int found = rex_driver.cuEventQuery(trace->ring[trace->first].end);
        if (found == REX_CUDA_NOT_READY)
            return;
        if (found != 0) {
            /*
             * Drop all pieces of work. The name of a piece may be freed after the piece is done,
             * and after this error no event tells librex whether a piece is done.
             */
            trace->is_blind = true;
            trace->count = 0;
            return;
        }
        write_oldest(trace);
    }
}

bool rex_stream_trace_is_behind(const struct rex_stream_trace *trace)
{
    return trace->count == TIMED_MOST ||
           (trace->count == 0 && rex_trace_clock() - trace->anchored > ANCHOR_AGE);
}

void rex_stream_trace_catch_up(struct rex_stream_trace *trace)
{
    if (trace->count == 0) {
        anchor_clocks(trace);
        return;
    }
    rex_driver.cuEventSynchronize(trace->ring[trace->first].end);
    rex_stream_trace_write(trace);
}

/* ---- a piece of work ------------------------------------------------------------------------- */

void rex_stream_trace_begin(struct rex_stream_trace *trace)
{
    struct timed *timed = &trace->ring[(trace->first + trace->count) % TIMED_MOST];
    trace->is_begun = !trace->is_blind && trace->count < TIMED_MOST &&
                      make_trace_event(&timed->begin) && make_trace_event(&timed->end) &&
                      rex_driver.cuEventRecord(timed->begin, trace->stream) == 0;
}

void rex_stream_trace_end(struct rex_stream_trace *trace, const struct rex_slice *slice,
                          size_t launches)
{
    struct timed *timed = &trace->ring[(trace->first + trace->count) % TIMED_MOST];
    if (!trace->is_begun || rex_driver.cuEventRecord(timed->end, trace->stream) != 0)
        return;
    timed->slice = *slice;
    timed->launches = launches;
    trace->count++;
}

/* ---- begin and end --------------------------------------------------------------------------- */

struct rex_stream_trace *rex_stream_trace_new(void *const *stream, const char *name)
{
    size_t ring = stream != NULL ? TIMED_MOST * sizeof(struct timed) : 0;
    struct rex_stream_trace *trace = calloc(1, sizeof *trace + ring);
    if (trace == NULL)
        return NULL;
    snprintf(trace->name, sizeof trace->name, "%s", name);
    trace->track = (struct rex_track){.id = rex_track_queue(), .name = trace->name};
    if (stream != NULL) {
        trace->stream = *stream;
        anchor_clocks(trace);
    }
    return trace;
}

struct rex_track *rex_stream_track(struct rex_stream_trace *trace)
{
    return &trace->track;
}

void rex_stream_trace_close(struct rex_stream_trace *trace)
{
    if (trace == NULL)
        return;
    if (trace->base != NULL)
        rex_driver.cuEventDestroy(trace->base);
    for (size_t i = 0; i < TIMED_MOST; i++) {
        if (trace->ring[i].begin != NULL)
            rex_driver.cuEventDestroy(trace->ring[i].begin);
        if (trace->ring[i].end != NULL)
            rex_driver.cuEventDestroy(trace->ring[i].end);
    }
}
