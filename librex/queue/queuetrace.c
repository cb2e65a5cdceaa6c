/*
 * queuetrace.c - the trace of a queue: its calls, on the thread's track, and the device's work, on
 * the queue's own.
 *
 * In a stream each command is between two events, which tell its time after it is done.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/queuetrace.h"

#include <stdio.h>
#include <stdlib.h>

#include "cuda/context.h"
#include "cuda/pinned.h"
#include "queue/instantiate.h"
#include "trace/trace.h"
#include "trace/tracetext.h"

#define TIMED_MOST 1024 /* commands of one queue that are not written yet */
/* nanoseconds until the clocks are compared again, because the GPU's and the host's drift apart */
#define ANCHOR_AGE UINT64_C(1000000000)

/* A command between two events. */
struct timed {
    void *begin, *end;
    struct rex_slice slice; /* without its time; its name is NULL for: */
    size_t launches;        /* a graph of so many launches */
};

struct rex_queue_trace {
    struct rex_track track;
    char label[96];
    /* Only with a stream: */
    bool blind;            /* the driver cannot time any more */
    void *base;            /* an event that is over */
    uint64_t base_at;      /* its time by the host's clock, in nanoseconds */
    uint64_t anchored;     /* when the clocks were last compared */
    uint32_t first, count; /* of the ring */
    struct timed ring[];
};

/* ---- events: a failure here only fails the trace, with no message and no result -------------- */

/* Whether *MADE is an event of the driver; makes one if it is NULL. */
static bool make_trace_event(void **made)
{
    if (*made == NULL && rex_driver.cuEventCreate(made, 0) != 0)
        *made = NULL;
    return *made != NULL;
}

/* Compares the clocks while the stream is empty. The context is current. */
static void anchor_clocks(struct rex_queue *queue)
{
    struct rex_queue_trace *trace = queue->trace;
    trace->blind = trace->blind || !make_trace_event(&trace->base) ||
                   rex_driver.cuEventRecord(trace->base, queue->stream) != 0 ||
                   rex_driver.cuEventSynchronize(trace->base) != 0;
    trace->base_at = trace->anchored = rex_trace_clock();
}

/* Nanoseconds from one event to another, at least 0. False if they cannot be compared. */
static bool time_between(void *begin, void *end, uint64_t *nanoseconds)
{
    float milliseconds;
    if (rex_driver.cuEventElapsedTime(&milliseconds, begin, end) != 0)
        return false;
    *nanoseconds = milliseconds > 0 ? (uint64_t)((double)milliseconds * 1e6) : 0;
    return true;
}

/* ---- the ring of commands in the stream ------------------------------------------------------ */

/*
 * Writes the oldest command, which is done. Its end is the event from which the next one is timed.
 */
static void write_oldest(struct rex_queue_trace *trace)
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

/* ---- the call, on the thread's track --------------------------------------------------------- */

/* Sets the name of COMMAND, and where it is counted. */
static void describe_command(struct rex_slice *slice, const struct rex_command *command,
                             const char *kernel)
{
    static const struct {
        const char *name, *category;
        enum rex_counted counted;
    } kinds[] = {
        [REX_COMMAND_LAUNCH] = {"unknown kernel", "launch", REX_COUNTED_KERNEL},
        [REX_COMMAND_COPY_TO] = {"queue copy to device", "data", REX_COUNTED_TRANSFER},
        [REX_COMMAND_COPY_FROM] = {"queue copy from device", "data", REX_COUNTED_TRANSFER},
        [REX_COMMAND_COPY_PEER] = {"queue copy between devices", "data", REX_COUNTED_TRANSFER},
        [REX_COMMAND_FILL] = {"queue fill", "data", REX_COUNTED_TRANSFER},
        [REX_COMMAND_CALL] = {"queue call", "queue", REX_COUNTED_NOWHERE},
        [REX_COMMAND_RECORD] = {"event record", "queue", REX_COUNTED_NOWHERE},
        [REX_COMMAND_WAIT] = {"event wait", "queue", REX_COUNTED_NOWHERE},
        [REX_COMMAND_GRAPH] = {"graph launch", "launch", REX_COUNTED_KERNEL},
    };
    slice->name = kernel != NULL ? kernel : kinds[command->kind].name;
    slice->category = kinds[command->kind].category;
    slice->counted = kinds[command->kind].counted;
    slice->to = command->kind == REX_COMMAND_COPY_TO ? command->copy.size : 0;
    slice->from = command->kind == REX_COMMAND_COPY_FROM ? command->copy.size : 0;
}

/* The facts for the details of a call. */
struct call {
    const struct rex_queue *queue;
    const struct rex_command *command;
    const char *kernel;
};

static void write_queue_details(struct rex_line *line, const void *context)
{
    const struct call *call = context;
    const struct rex_launch_config *launch = &call->command->launch.description;
    rex_line_number(line, "\"device\":", call->queue->gpu.number);
    rex_line_string(line, ",\"queue\":", call->queue->name);
    if (call->command->kind != REX_COMMAND_LAUNCH)
        return;
    const struct rex_map *map = &call->command->launch.map;
    rex_line_string(line, ",\"kernel\":", call->kernel);
    rex_line_launch(line, launch->key, launch->teams, launch->threads, map->count);
    rex_line_rows(line, map->count, map->begin, map->sizes, map->types, rex_is_pinned);
}

/* Writes the call that put COMMAND in, from time BEGAN on; DONE is the device's work for it. */
static void write_queue_call(const struct rex_queue *queue, const struct rex_command *command,
                             const struct rex_slice *done, uint64_t began)
{
    struct call call = {queue, command, done->name};
    struct rex_slice slice = {
        .name = command->kind == REX_COMMAND_LAUNCH ? "queue launch" : done->name,
        .category = "queue",
        .begin = began,
        .end = rex_trace_clock(),
        .details = command->kind != REX_COMMAND_GRAPH ? write_queue_details : NULL,
        .context = &call};
    rex_trace_slice(&slice);
}

/* ---- commands -------------------------------------------------------------------------------- */

int rex_queue_trace_submit(struct rex_queue *queue, const struct rex_command *command,
                           struct rex_loaded_kernel **kernel)
{
    struct rex_slice slice = {.track = NULL};
    uint64_t began = rex_trace_clock();
    struct rex_queue_trace *trace = queue->trace;
    if (trace->count == 0 && rex_trace_clock() - trace->anchored > ANCHOR_AGE) {
        queue->gpu.waits(&queue->gpu, true);
        anchor_clocks(queue);
        queue->gpu.waits(&queue->gpu, false);
    }
    /* Waits for the oldest command if the ring is full. */
    if (trace->count == TIMED_MOST) {
        queue->gpu.waits(&queue->gpu, true);
        rex_driver.cuEventSynchronize(trace->ring[trace->first].end);
        queue->gpu.waits(&queue->gpu, false);
        do
            write_oldest(trace);
        while (trace->count > 0 && rex_driver.cuEventQuery(trace->ring[trace->first].end) == 0);
    }
    struct timed *timed = &trace->ring[(trace->first + trace->count) % TIMED_MOST];
    bool is_timed = !trace->blind && make_trace_event(&timed->begin) &&
                    make_trace_event(&timed->end) &&
                    rex_driver.cuEventRecord(timed->begin, queue->stream) == 0;
    int result = rex_command_submit(&queue->gpu, queue->stream, command, kernel);
    if (result != REX_OK)
        return result;
    describe_command(&slice, command, *kernel != NULL ? (*kernel)->name : NULL);
    if (is_timed && command->kind != REX_COMMAND_RECORD) {
        timed->slice = slice;
        if (command->kind == REX_COMMAND_GRAPH) {
            timed->slice.name = NULL;
            timed->launches = command->graph->launches;
        }
        if (rex_driver.cuEventRecord(timed->end, queue->stream) == 0)
            trace->count++;
    }
    write_queue_call(queue, command, &slice, began);
    return REX_OK;
}

/* On a device that does all commands at once, the time of the command is that of the call. */
int rex_queue_trace_do(struct rex_queue *queue, const struct rex_command *command)
{
    struct rex_slice slice = {.track = &queue->trace->track, .begin = rex_trace_clock()};
    unsigned inside = command->kind != REX_COMMAND_CALL; /* it may call any function */
    rex_trace_depth += inside;
    int result = rex_command_do(queue->gpu.number, command);
    rex_trace_depth -= inside;
    slice.end = rex_trace_clock();
    if (result != REX_OK || rex_trace_depth > 0)
        return result;
    describe_command(&slice, command,
                     command->kind == REX_COMMAND_LAUNCH
                         ? rex_trace_name(command->launch.description.key)
                         : NULL);
    slice.by = command->kind == REX_COMMAND_LAUNCH ? REX_TRACE_RUNTIME : NULL;
    rex_trace_slice(&slice);
    write_queue_call(queue, command, &slice, slice.begin);
    return REX_OK;
}

/* ---- begin and end --------------------------------------------------------------------------- */

void rex_queue_trace_begin(struct rex_queue *queue)
{
    size_t ring = queue->immediate ? 0 : TIMED_MOST * sizeof(struct timed);
    struct rex_queue_trace *trace = calloc(1, sizeof *trace + ring);
    if (trace == NULL)
        return;
    snprintf(trace->label, sizeof trace->label, "queue %s (device %d)", queue->name,
             queue->gpu.number);
    trace->track = (struct rex_track){.id = rex_track_queue(), .name = trace->label};
    queue->trace = trace;
    int entered = queue->immediate ? -1 : rex_context_enter(queue->gpu.context);
    if (entered >= 0)
        anchor_clocks(queue);
    rex_context_leave(entered);
}

void rex_queue_trace_idle(struct rex_queue *queue)
{
    if (queue->trace->count == 0)
        return;
    int entered = rex_context_enter(queue->gpu.context);
    while (entered >= 0 && queue->trace->count > 0)
        write_oldest(queue->trace);
    rex_context_leave(entered);
}

void rex_queue_trace_end(struct rex_queue *queue)
{
    struct rex_queue_trace *trace = queue->trace;
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
