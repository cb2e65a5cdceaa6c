/*
 * queuetrace.c - the trace of a queue. The thread's track shows the calls, and the queue's track
 * shows the work of the device.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/queuetrace.h"

#include <stdio.h>

#include "cuda/context.h"
#include "cuda/pinned.h"
#include "cuda/streamtrace.h"
#include "queue/instantiate.h"
#include "trace/trace.h"
#include "trace/tracetext.h"

/* ---- the call, on the thread's track --------------------------------------------------------- */

/* Sets the name, category, counter and bytes of SLICE for COMMAND. */
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

/* The argument of write_queue_details(). */
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

/*
 * Writes the slice of the enqueue call, which began at BEGAN. DONE is the slice of the command on
 * the device.
 */
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
    if (rex_stream_trace_is_behind(queue->trace)) {
        queue->gpu.waits(&queue->gpu, true);
        rex_stream_trace_catch_up(queue->trace);
        queue->gpu.waits(&queue->gpu, false);
    }
    rex_stream_trace_begin(queue->trace);
    int result = rex_command_submit(&queue->gpu, queue->stream, command, kernel);
    if (result != REX_OK)
        return result;
    describe_command(&slice, command, *kernel != NULL ? (*kernel)->name : NULL);
    if (command->kind == REX_COMMAND_GRAPH) {
        struct rex_slice graph = slice;
        graph.name = NULL;
        rex_stream_trace_end(queue->trace, &graph, command->graph->launches);
    } else if (command->kind != REX_COMMAND_RECORD)
        rex_stream_trace_end(queue->trace, &slice, 0);
    write_queue_call(queue, command, &slice, began);
    return REX_OK;
}

/* A command that is executed at once takes as long as its call. */
int rex_queue_trace_do(struct rex_queue *queue, const struct rex_command *command)
{
    struct rex_slice slice = {.track = rex_stream_track(queue->trace), .begin = rex_trace_clock()};
    /*
     * Calls to librex inside the command are traced only if a host function of the program makes
     * them.
     */
    unsigned inside = command->kind != REX_COMMAND_CALL;
    rex_trace_depth += inside;
    int result = rex_command_do(&queue->gpu, command);
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
    char name[96];
    int priority = 0;
    snprintf(name, sizeof name, "queue %s (device %d)", queue->name, queue->gpu.number);
    if (queue->immediate) {
        queue->trace = rex_stream_trace_new(NULL, name);
        return;
    }
    int entered = rex_context_enter(queue->gpu.context);
    if (entered < 0)
        goto leave;
    /*
     * Ask the driver for the priority, because the driver may have clamped the requested priority.
     */
    if (REX_CUDA(cuStreamGetPriority, queue->stream, &priority) == 0 && priority != 0)
        snprintf(name, sizeof name, "queue %s (device %d, priority %d)", queue->name,
                 queue->gpu.number, priority);
    queue->trace = rex_stream_trace_new(&queue->stream, name);
leave:
    rex_context_leave(entered);
}

void rex_queue_trace_idle(struct rex_queue *queue)
{
    int entered = rex_context_enter(queue->gpu.context);
    if (entered >= 0)
        rex_stream_trace_write(queue->trace);
    rex_context_leave(entered);
}
