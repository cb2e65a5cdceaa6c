/*
 * queuetrace.c - the trace of a queue: what was put in, on the thread's track, and the work itself,
 * on the queue's own.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/queuetrace.h"

#include <stdio.h>
#include <stdlib.h>

#include "queue/graph.h"
#include "trace/traceline.h"

/* What WORK is called, and where it counts. */
static void describe(struct rex_slice *slice, const struct rex_work *work, const char *kernel)
{
    static const struct {
        const char *name, *category;
        enum rex_counted counted;
    } kinds[] = {
        [REX_WORK_LAUNCH] = {"unknown kernel", "launch", REX_COUNTED_KERNEL},
        [REX_WORK_COPY_TO] = {"queue copy to device", "data", REX_COUNTED_TRANSFER},
        [REX_WORK_COPY_FROM] = {"queue copy from device", "data", REX_COUNTED_TRANSFER},
        [REX_WORK_FILL] = {"queue fill", "data", REX_COUNTED_TRANSFER},
        [REX_WORK_CALL] = {"queue call", "queue", REX_COUNTED_NOWHERE},
        [REX_WORK_RECORD] = {"event record", "queue", REX_COUNTED_NOWHERE},
        [REX_WORK_WAIT] = {"event wait", "queue", REX_COUNTED_NOWHERE},
    };
    slice->name = kernel != NULL ? kernel : kinds[work->kind].name;
    slice->category = kinds[work->kind].category;
    slice->counted = kinds[work->kind].counted;
    slice->to = work->kind == REX_WORK_COPY_TO ? work->copy.size : 0;
    slice->from = work->kind == REX_WORK_COPY_FROM ? work->copy.size : 0;
}

/* What was put in where, for the thread's track. */
struct put {
    const struct rex_queue *queue;
    const struct rex_work *work;
    const char *kernel;
};

static void put_work(struct rex_line *line, const void *context)
{
    const struct put *put = context;
    const struct rex_kernel_launch *launch = &put->work->launch.description;
    rex_line_text(line, "\"device\":");
    rex_line_number(line, put->queue->gpu.number);
    rex_line_text(line, ",\"queue\":");
    rex_line_string(line, put->queue->name);
    if (put->work->kind != REX_WORK_LAUNCH)
        return;
    const struct rex_map *map = &put->work->launch.map;
    rex_line_text(line, ",\"kernel\":");
    rex_line_string(line, put->kernel);
    rex_line_launch(line, launch->key, launch->teams, launch->threads, map->count);
    rex_line_rows(line, map->count, map->begin, map->sizes, map->types);
}

/* The call that put WORK in, on the thread's track. */
static void note_put(const struct rex_queue *queue, const struct rex_work *work,
                     const struct rex_slice *done, uint64_t began)
{
    struct put put = {queue, work, done->name};
    struct rex_slice slice = {.name = work->kind == REX_WORK_LAUNCH ? "queue launch" : done->name,
                              .category = "queue",
                              .begin = began,
                              .end = rex_trace_clock(),
                              .details = put_work,
                              .context = &put};
    rex_trace_slice(&slice);
}

static struct rex_queue *queue_of(struct rex_stream_gpu *gpu)
{
    return (struct rex_queue *)((char *)gpu - offsetof(struct rex_queue, gpu));
}

static int issue(struct rex_stream_gpu *gpu, void *stream, const struct rex_work *work,
                 struct rex_queue_kernel **kernel)
{
    struct rex_queue *queue = queue_of(gpu);
    struct rex_slice slice = {.track = NULL};
    uint64_t began = rex_trace_clock();
    struct rex_timed *timed = rex_timed_begin(queue);
    int result = rex_work_issue(gpu, stream, work, kernel);
    if (result != REX_OK)
        return result;
    describe(&slice, work, *kernel != NULL ? (*kernel)->name : NULL);
    if (timed != NULL && work->kind != REX_WORK_RECORD) {
        *timed = (struct rex_timed){timed->begin,  timed->end, slice.name, slice.category,
                                    slice.counted, slice.to,   slice.from, 0};
        rex_timed_end(queue, timed);
    }
    note_put(queue, work, &slice, began);
    return REX_OK;
}

static int run(struct rex_queue *queue, const struct rex_graph *graph)
{
    struct rex_slice slice = {
        .name = "graph launch", .category = "queue", .begin = rex_trace_clock()};
    struct rex_timed *timed = rex_timed_begin(queue);
    int result = rex_graph_run(queue, graph);
    if (result == 0 && timed != NULL) {
        *timed = (struct rex_timed){timed->begin,       timed->end, NULL, "launch",
                                    REX_COUNTED_KERNEL, 0,          0,    graph->launches};
        rex_timed_end(queue, timed);
    }
    slice.end = rex_trace_clock();
    rex_trace_slice(&slice);
    return result;
}

/* On a device that does everything at once the work's time is the call's. */
static int perform(struct rex_queue *queue, const struct rex_work *work)
{
    struct rex_slice slice = {.track = &queue->trace->track, .begin = rex_trace_clock()};
    unsigned inside = work->kind != REX_WORK_CALL; /* which calls what it likes */
    rex_trace_depth += inside;
    int result = rex_queue_perform(queue, work);
    rex_trace_depth -= inside;
    slice.end = rex_trace_clock();
    if (result != REX_OK || rex_trace_depth > 0)
        return result;
    describe(&slice, work,
             work->kind == REX_WORK_LAUNCH ? rex_trace_name(work->launch.description.key) : NULL);
    rex_trace_slice(&slice);
    note_put(queue, work, &slice, slice.begin);
    return REX_OK;
}

void rex_queue_trace(struct rex_queue *queue)
{
    size_t ring = queue->waits ? 0 : REX_TIMED_MOST * sizeof(struct rex_timed);
    struct rex_queue_trace *trace = calloc(1, sizeof *trace + ring);
    if (trace == NULL)
        return;
    snprintf(trace->label, sizeof trace->label, "queue %s (device %d)", queue->name,
             queue->gpu.number);
    trace->track = (struct rex_track){.id = rex_track_queue(), .name = trace->label};
    queue->trace = trace;
    queue->issue = issue;
    queue->perform = perform;
    queue->run = run;
    int entered = queue->waits ? -1 : rex_context_enter(queue->gpu.context);
    if (entered >= 0)
        rex_timed_anchor(queue);
    rex_context_leave(entered);
}

/* ---- when the work was done, on a GPU -------------------------------------------------------- */

#define ANCHOR_AGE \
    UINT64_C(1000000000) /* nanoseconds: the GPU's clock and the host's drift apart */

/* What fails here fails the trace and nothing else: no message of its own, no result. */
static bool event(void **made)
{
    if (*made == NULL && rex_driver.cuEventCreate(made, 0) != 0)
        *made = NULL;
    return *made != NULL;
}

void rex_timed_anchor(struct rex_queue *queue)
{
    struct rex_queue_trace *trace = queue->trace;
    trace->blind = trace->blind || !event(&trace->base) ||
                   rex_driver.cuEventRecord(trace->base, queue->stream) != 0 ||
                   rex_driver.cuEventSynchronize(trace->base) != 0;
    trace->base_at = trace->anchored = rex_trace_clock();
}

/*
 * From one event to another in nanoseconds, which begin at 0; false where they cannot be compared.
 */
static bool between(void *begin, void *end, uint64_t *nanoseconds)
{
    float milliseconds = 0;
    if (rex_driver.cuEventElapsedTime(&milliseconds, begin, end) != 0)
        return false;
    *nanoseconds = milliseconds > 0 ? (uint64_t)((double)milliseconds * 1e6) : 0;
    return true;
}

/*
 * Write down the oldest piece of work, which is done. Its end is the event that the next one counts
 * from.
 */
static void write_oldest(struct rex_queue_trace *trace)
{
    struct rex_timed *timed = &trace->ring[trace->first];
    uint64_t waited = 0, took = 0;
    char graph[48];
    snprintf(graph, sizeof graph, "graph of %zu launches", timed->launches);
    if (between(trace->base, timed->begin, &waited) && between(timed->begin, timed->end, &took)) {
        struct rex_slice slice = {.track = &trace->track,
                                  .name = timed->name != NULL ? timed->name : graph,
                                  .category = timed->category,
                                  .counted = timed->counted,
                                  .begin = trace->base_at + waited,
                                  .end = trace->base_at + waited + took,
                                  .to = timed->to,
                                  .from = timed->from};
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
    rex_driver.cuEventSynchronize(trace->ring[trace->first].end);
    do
        write_oldest(trace);
    while (trace->count > 0 && rex_driver.cuEventQuery(trace->ring[trace->first].end) == 0);
}

struct rex_timed *rex_timed_begin(struct rex_queue *queue)
{
    struct rex_queue_trace *trace = queue->trace;
    if (trace->count == 0 && rex_trace_clock() - trace->anchored > ANCHOR_AGE)
        rex_timed_anchor(queue);
    make_room(trace);
    struct rex_timed *timed = &trace->ring[(trace->first + trace->count) % REX_TIMED_MOST];
    if (trace->blind || !event(&timed->begin) || !event(&timed->end) ||
        rex_driver.cuEventRecord(timed->begin, queue->stream) != 0)
        return NULL;
    return timed;
}

void rex_timed_end(struct rex_queue *queue, struct rex_timed *timed)
{
    if (rex_driver.cuEventRecord(timed->end, queue->stream) == 0)
        queue->trace->count++;
}

void rex_queue_trace_idle(struct rex_queue *queue)
{
    int entered =
        queue->waits || queue->trace->count == 0 ? -1 : rex_context_enter(queue->gpu.context);
    if (entered < 0)
        return;
    while (queue->trace->count > 0)
        write_oldest(queue->trace);
    rex_context_leave(entered);
}

static void destroy(void *made)
{
    if (made != NULL)
        rex_driver.cuEventDestroy(made);
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
