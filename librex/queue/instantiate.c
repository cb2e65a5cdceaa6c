/*
 * instantiate.c - makes the driver's graph of a rex_graph. It captures the commands in streams that
 * exist only during the capture.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/instantiate.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "cuda/context.h"
#include "present/present.h"

/*
 * The resources of a capture: a stream for each lane, an event for each recorded rex_event, and an
 * event for the end of each lane. A lane has the commands of one queue.
 */
struct driver_capture {
    struct rex_graph *graph;
    void *stream[REX_GRAPH_LANES];
    bool began[REX_GRAPH_LANES];
    void **event;
    size_t events;
};

static int graph_failed(const struct rex_graph *graph)
{
    return rex_fail(REX_ECUDA, "a graph of queue \"%s\" could not be made: %s", graph->name,
                    rex_cuda_why());
}

/* ---- the commands ---------------------------------------------------------------------------- */

static int capture_command(struct driver_capture *capture, const struct rex_command *command)
{
    struct rex_driver_graph *made = &capture->graph->made;
    struct rex_loaded_kernel *kernel = NULL;
    void *stream = capture->stream[command->lane];
    if (command->kind == REX_COMMAND_RECORD) {
        if (REX_CUDA(cuEventRecord, capture->event[command->event.point], stream) != 0)
            return graph_failed(capture->graph);
        return REX_OK;
    }
    if (command->kind == REX_COMMAND_WAIT) {
        capture->began[command->lane] = true;
        if (REX_CUDA(cuStreamWaitEvent, stream, capture->event[command->event.point], 0) != 0)
            return graph_failed(capture->graph);
        return REX_OK;
    }
    int result = rex_command_submit(&capture->graph->gpu, stream, command, &kernel);
    if (result != REX_OK || kernel == NULL)
        return result;
    void *node = rex_capture_last_node(stream);
    if (node == NULL)
        return graph_failed(capture->graph);
    made->launch[made->launches++] = (struct rex_driver_launch){node, kernel->image};
    rex_loaded_image_hold(kernel->image);
    rex_kernel_list_add(&made->kernels, kernel->name, kernel->image->registration);
    return REX_OK;
}

/* Makes the streams and events of CAPTURE, and captures the commands. Returns 0 or an error. */
static int capture_commands(struct driver_capture *capture)
{
    const struct rex_graph *graph = capture->graph;
    size_t events = (size_t)graph->points + graph->lanes;
    int result = REX_OK;
    capture->event = calloc(events, sizeof *capture->event);
    if (capture->event == NULL)
        return rex_fail_memory(events * sizeof *capture->event, "a graph");
    capture->events = events;
    for (size_t i = 0; i < events; i++)
        if (!rex_cuda_has_made(REX_CUDA(cuEventCreate, &capture->event[i], REX_CUDA_EVENT_UNTIMED),
                               &capture->event[i]))
            return graph_failed(graph);
    for (uint32_t i = 0; i < graph->lanes; i++)
        if (!rex_cuda_has_made(
                REX_CUDA(cuStreamCreate, &capture->stream[i], REX_CUDA_STREAM_NON_BLOCKING),
                &capture->stream[i]))
            return graph_failed(graph);
    capture->began[0] = true;
    if (REX_CUDA(cuStreamBeginCapture, capture->stream[0], REX_CAPTURE_RELAXED) != 0)
        return graph_failed(graph);
    for (size_t i = 0; i < graph->count; i++) {
        result = capture_command(capture, &graph->command[i]);
        if (result != REX_OK)
            goto end_capture;
    }
    /* The driver ends a capture only after the first lane waits for the ends of all other lanes. */
    for (uint32_t i = 1; i < graph->lanes; i++) {
        void *end = capture->event[graph->points + i];
        if (capture->began[i] && (REX_CUDA(cuEventRecord, end, capture->stream[i]) != 0 ||
                                  REX_CUDA(cuStreamWaitEvent, capture->stream[0], end, 0) != 0)) {
            result = graph_failed(graph);
            goto end_capture;
        }
    }
end_capture: /* also after a failure, because the stream is still in capture */
    if (!rex_cuda_has_made(
            REX_CUDA(cuStreamEndCapture, capture->stream[0], &capture->graph->made.graph),
            &capture->graph->made.graph) &&
        result == REX_OK)
        result = graph_failed(graph);
    return result;
}

/* ---- the driver's graph ---------------------------------------------------------------------- */

static int capture_and_instantiate(struct rex_graph *graph)
{
    struct driver_capture capture = {.graph = graph};
    struct rex_driver_graph *made = &graph->made;
    void *context;
    int entered = rex_context_enter(graph->gpu.context);
    if (entered < 0)
        return graph_failed(graph);
    int result = capture_commands(&capture);
    if (result != REX_OK)
        goto close;
    REX_ASSERT(made->launches == graph->launches);
    /* The driver's graph needs the context. rex_graph_unbuild() drops the context. */
    if (rex_context_retain(graph->gpu.ordinal, &context) != 0) {
        result = graph_failed(graph);
        goto close;
    }
    /*
     * Upload the nodes now. Otherwise the first launch of the graph would upload the nodes. For a
     * graph of 4 000 launches, that first launch would take some milliseconds more.
     */
    if (!rex_cuda_has_made(REX_CUDA(cuGraphInstantiate, &made->executable, made->graph, 0),
                           &made->executable) ||
        REX_CUDA(cuGraphUpload, made->executable, capture.stream[0]) != 0) {
        result = graph_failed(graph);
        if (made->executable != NULL)
            REX_CUDA(cuGraphExecDestroy, made->executable);
        made->executable = NULL;
        rex_context_drop(graph->gpu.ordinal);
    }
close:
    for (uint32_t i = 0; i < REX_GRAPH_LANES; i++)
        if (capture.stream[i] != NULL)
            REX_CUDA(cuStreamDestroy, capture.stream[i]);
    for (size_t i = 0; i < capture.events; i++)
        if (capture.event[i] != NULL)
            REX_CUDA(cuEventDestroy, capture.event[i]);
    free(capture.event);
    rex_context_leave(entered);
    return result;
}

/* A child of fork cannot use the driver's objects, and frees only memory of malloc(). */
void rex_graph_unbuild(const struct rex_graph *graph, struct rex_driver_graph *made)
{
    if (made->graph != NULL && graph->pooled.forks == rex_forks()) {
        /* If rex_context_enter() fails, the calls below may still work. */
        int entered = rex_context_enter(graph->gpu.context);
        if (made->executable != NULL)
            REX_CUDA(cuGraphExecDestroy, made->executable);
        REX_CUDA(cuGraphDestroy, made->graph);
        rex_context_leave(entered);
        if (made->executable != NULL)
            rex_context_drop(graph->gpu.ordinal);
    }
    if (graph->pooled.forks == rex_forks())
        for (size_t i = 0; i < made->launches; i++)
            rex_loaded_image_drop(made->launch[i].image);
    free(made->launch);
}

int rex_graph_build(struct rex_graph *graph)
{
    struct rex_driver_graph old = graph->made;
    graph->made =
        (struct rex_driver_graph){.generation = rex_addresses_generation(graph->gpu.remember)};
    size_t size = (graph->launches + 1) * sizeof *graph->made.launch;
    graph->made.launch = calloc(1, size);
    int result;
    if (graph->made.launch != NULL)
        result = capture_and_instantiate(graph);
    else
        result = rex_fail_memory(size, "a graph");
    graph->stale = result != REX_OK;
    if (result == REX_OK) {
        rex_graph_unbuild(graph, &old);
        return REX_OK;
    }
    rex_graph_unbuild(graph, &graph->made);
    graph->made = old;
    return result;
}

int rex_graph_refresh(struct rex_graph *graph)
{
    uint64_t generation = rex_addresses_generation(graph->gpu.remember);
    if (!graph->stale && generation == graph->made.generation)
        return REX_OK;
    bool is_same = rex_addresses_renew(&graph->gpu.addresses, graph->gpu.number, generation);
    if (is_same && !graph->stale) {
        graph->made.generation = generation;
        return REX_OK;
    }
    memset(&graph->gpu.addresses, 0, sizeof graph->gpu.addresses);
    return rex_graph_build(graph);
}
