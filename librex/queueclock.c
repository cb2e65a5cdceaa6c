/*
 * queueclock.c - when the work of a traced queue was done, on a GPU.
 *
 * An event of the driver is recorded before and after each piece of work. Their times are counted from another event, recorded where
 * nothing was left to do, so that the host's clock at that moment is known. They are read when the queue is seen idle, or when it has no
 * room for more.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>

#include "queuetrace.h"

#define ANCHOR_AGE UINT64_C(1000000000) /* nanoseconds: the GPU's clock and the host's drift apart */

/* What fails here fails the trace and nothing else: no message of its own, no result. */
static bool event(void **made)
{
    if (*made == NULL && rex_stream_driver.cuEventCreate(made, 0) != 0)
        *made = NULL;
    return *made != NULL;
}

void rex_timed_anchor(struct rex_queue *queue)
{
    struct rex_queue_trace *trace = queue->trace;
    trace->blind = trace->blind || !event(&trace->base) || rex_stream_driver.cuEventRecord(trace->base, queue->stream) != 0 ||
                   rex_stream_driver.cuEventSynchronize(trace->base) != 0;
    trace->base_at = trace->anchored = rex_trace_clock();
}

/* From one event to another in nanoseconds, which begin at 0; false where they cannot be compared. */
static bool between(void *begin, void *end, uint64_t *nanoseconds)
{
    float milliseconds = 0;
    if (rex_stream_driver.cuEventElapsedTime(&milliseconds, begin, end) != 0)
        return false;
    *nanoseconds = milliseconds > 0 ? (uint64_t)((double)milliseconds * 1e6) : 0;
    return true;
}

/* Write down the oldest piece of work, which is done. Its end is the event that the next one counts from. */
static void write_oldest(struct rex_queue_trace *trace)
{
    struct rex_timed *timed = &trace->ring[trace->first];
    uint64_t waited = 0, took = 0;
    char graph[48];
    snprintf(graph, sizeof graph, "graph of %zu launches", timed->launches);
    if (between(trace->base, timed->begin, &waited) && between(timed->begin, timed->end, &took)) {
        struct rex_slice slice = {.track = &trace->track, .name = timed->name != NULL ? timed->name : graph, .category = timed->category,
                                  .counted = timed->counted, .begin = trace->base_at + waited, .end = trace->base_at + waited + took,
                                  .to = timed->to, .from = timed->from};
        rex_trace_slice(&slice);
        void *base = trace->base;
        trace->base = timed->end;
        trace->base_at = slice.end;
        timed->end = base;
    }
    trace->first = (trace->first + 1) % REX_TIMED_MOST;
    trace->count--;
}

/* Where the ring is full, the oldest piece of work is waited for. */
static void make_room(struct rex_queue_trace *trace)
{
    if (trace->count < REX_TIMED_MOST)
        return;
    rex_stream_driver.cuEventSynchronize(trace->ring[trace->first].end);
    do
        write_oldest(trace);
    while (trace->count > 0 && rex_stream_driver.cuEventQuery(trace->ring[trace->first].end) == 0);
}

struct rex_timed *rex_timed_begin(struct rex_queue *queue)
{
    struct rex_queue_trace *trace = queue->trace;
    if (trace->count == 0 && rex_trace_clock() - trace->anchored > ANCHOR_AGE)
        rex_timed_anchor(queue);
    make_room(trace);
    struct rex_timed *timed = &trace->ring[(trace->first + trace->count) % REX_TIMED_MOST];
    if (trace->blind || !event(&timed->begin) || !event(&timed->end) ||
        rex_stream_driver.cuEventRecord(timed->begin, queue->stream) != 0)
        return NULL;
    return timed;
}

void rex_timed_end(struct rex_queue *queue, struct rex_timed *timed)
{
    if (rex_stream_driver.cuEventRecord(timed->end, queue->stream) == 0)
        queue->trace->count++;
}

void rex_queue_trace_idle(struct rex_queue *queue)
{
    int entered = queue->waits || queue->trace->count == 0 ? -1 : rex_stream_enter(queue->gpu.context);
    if (entered < 0)
        return;
    while (queue->trace->count > 0)
        write_oldest(queue->trace);
    rex_stream_leave(entered);
}

static void destroy(void *made)
{
    if (made != NULL)
        rex_stream_driver.cuEventDestroy(made);
}

void rex_queue_trace_end(struct rex_queue *queue)
{
    struct rex_queue_trace *trace = queue->trace;
    if (trace == NULL)
        return;
    destroy(trace->base);
    for (size_t i = 0; i < REX_TIMED_MOST; i++) {
        destroy(trace->ring[i].begin);
        destroy(trace->ring[i].end);
    }
}
