/*
 * queuetrace.c - the trace of a queue: what was put in, on the thread's track, and the work itself, on the queue's own.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queuetrace.h"

#include <stdio.h>
#include <stdlib.h>

#include "graph.h"
#include "traceline.h"

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
static void note_put(const struct rex_queue *queue, const struct rex_work *work, const struct rex_slice *done, uint64_t began)
{
    struct put put = {queue, work, done->name};
    struct rex_slice slice = {.name = work->kind == REX_WORK_LAUNCH ? "queue launch" : done->name, .category = "queue", .begin = began,
                              .end = rex_trace_clock(), .details = put_work, .context = &put};
    rex_trace_slice(&slice);
}

static struct rex_queue *queue_of(struct rex_gpu *gpu)
{
    return (struct rex_queue *)((char *)gpu - offsetof(struct rex_queue, gpu));
}

static int issue(struct rex_gpu *gpu, void *stream, const struct rex_work *work, struct rex_queue_kernel **kernel)
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
        *timed = (struct rex_timed){timed->begin, timed->end, slice.name, slice.category, slice.counted, slice.to, slice.from, 0};
        rex_timed_end(queue, timed);
    }
    note_put(queue, work, &slice, began);
    return REX_OK;
}

static int run(struct rex_queue *queue, const struct rex_graph *graph)
{
    struct rex_slice slice = {.name = "graph launch", .category = "queue", .begin = rex_trace_clock()};
    struct rex_timed *timed = rex_timed_begin(queue);
    int result = rex_graph_run(queue, graph);
    if (result == 0 && timed != NULL) {
        *timed = (struct rex_timed){timed->begin, timed->end, NULL, "launch", REX_COUNTED_KERNEL, 0, 0, graph->launches};
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
    describe(&slice, work, work->kind == REX_WORK_LAUNCH ? rex_trace_name(work->launch.description.key) : NULL);
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
    snprintf(trace->label, sizeof trace->label, "queue %s (device %d)", queue->name, queue->gpu.number);
    trace->track = (struct rex_track){.id = rex_track_queue(), .name = trace->label};
    queue->trace = trace;
    queue->issue = issue;
    queue->perform = perform;
    queue->run = run;
    int entered = queue->waits ? -1 : rex_stream_enter(queue->gpu.context);
    if (entered >= 0)
        rex_timed_anchor(queue);
    rex_stream_leave(entered);
}
