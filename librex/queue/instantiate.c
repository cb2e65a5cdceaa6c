/*
 * instantiate.c - makes the driver's graph: the driver captures the commands in streams of its own.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/instantiate.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cuda/context.h"
#include "present/present.h"

#define EVENT_DISABLE_TIMING 0x2
/*
 * CU_STREAM_CAPTURE_MODE_RELAXED: calls by other threads, as libomptarget's allocations, do not end
 * the capture.
 */
#define CAPTURE_RELAXED 2

/*
 * The resources of a capture: a stream for each lane, an event for each recorded event and for each
 * lane's end.
 */
struct driver_capture {
    struct rex_graph *graph;
    void *stream[REX_GRAPH_LANES];
    bool began[REX_GRAPH_LANES];
    void **event;
    size_t events;
};

static int failed(const char *what)
{
    return rex_fail(REX_ECUDA, "%s of a graph: %s", what, rex_cuda_why());
}

static void close_capture(struct driver_capture *capture)
{
    for (uint32_t i = 0; i < REX_GRAPH_LANES; i++)
        if (capture->stream[i] != NULL)
            REX_CUDA(cuStreamDestroy, capture->stream[i]);
    for (size_t i = 0; i < capture->events; i++)
        if (capture->event[i] != NULL)
            REX_CUDA(cuEventDestroy, capture->event[i]);
    free(capture->event);
}

static int open_capture(struct driver_capture *capture)
{
    const struct rex_graph *graph = capture->graph;
    size_t events = (size_t)graph->points + graph->lanes;
    capture->event = calloc(events, sizeof *capture->event);
    if (capture->event == NULL)
        return rex_fail_memory(events * sizeof *capture->event, "a graph");
    capture->events = events;
    for (size_t i = 0; i < capture->events; i++)
        if (!rex_cuda_has_made(REX_CUDA(cuEventCreate, &capture->event[i], EVENT_DISABLE_TIMING),
                               &capture->event[i]))
            return failed("an event");
    for (uint32_t i = 0; i < graph->lanes; i++)
        if (!rex_cuda_has_made(
                REX_CUDA(cuStreamCreate, &capture->stream[i], REX_CUDA_STREAM_NON_BLOCKING),
                &capture->stream[i]))
            return failed("a stream");
    capture->began[0] = true;
    return REX_CUDA(cuStreamBeginCapture, capture->stream[0], CAPTURE_RELAXED) == 0
               ? REX_OK
               : failed("the beginning");
}

/* ---- the commands ---------------------------------------------------------------------------- */

/* Takes the node of the launch captured last: the stream's next command would depend on it. */
static int add_node(struct driver_capture *capture, void *stream,
                    const struct rex_loaded_kernel *kernel)
{
    struct rex_driver_graph *made = &capture->graph->made;
    int status = 0;
    uint64_t id;
    void *driver_graph, *const *last = NULL;
    size_t count = 0;
    if (REX_CUDA(cuStreamGetCaptureInfo, stream, &status, &id, &driver_graph, &last, &count) != 0 ||
        count != 1)
        return failed("a launch");
    made->launch[made->launches++] = (struct rex_driver_launch){last[0], kernel->image};
    rex_loaded_image_hold(kernel->image);
    rex_kernel_list_add(&made->kernels, kernel->name, kernel->image->registration);
    return REX_OK;
}

static int capture_event(struct driver_capture *capture, const struct rex_command *command)
{
    void *stream = capture->stream[command->lane], *event = capture->event[command->event.point];
    if (command->kind == REX_COMMAND_RECORD)
        return REX_CUDA(cuEventRecord, event, stream) == 0 ? REX_OK : failed("an event");
    capture->began[command->lane] = true;
    return REX_CUDA(cuStreamWaitEvent, stream, event, 0) == 0 ? REX_OK : failed("a wait");
}

static int capture_command(struct driver_capture *capture, const struct rex_command *command)
{
    struct rex_loaded_kernel *kernel = NULL;
    void *stream = capture->stream[command->lane];
    if (command->kind == REX_COMMAND_RECORD || command->kind == REX_COMMAND_WAIT)
        return capture_event(capture, command);
    int result = rex_command_submit(&capture->graph->gpu, stream, command, &kernel);
    return result == REX_OK && kernel != NULL ? add_node(capture, stream, kernel) : result;
}

/* The first lane waits for the ends of the others. */
static int join_lanes(struct driver_capture *capture)
{
    for (uint32_t i = 1; i < capture->graph->lanes; i++) {
        void *end = capture->event[capture->graph->points + i];
        if (capture->began[i] && (REX_CUDA(cuEventRecord, end, capture->stream[i]) != 0 ||
                                  REX_CUDA(cuStreamWaitEvent, capture->stream[0], end, 0) != 0))
            return failed("the end");
    }
    return REX_OK;
}

static int capture_all(struct driver_capture *capture)
{
    const struct rex_graph *graph = capture->graph;
    void **made = &capture->graph->made.graph;
    int result = open_capture(capture);
    if (result != REX_OK)
        return result;
    for (size_t i = 0; i < graph->count && result == REX_OK; i++)
        result = capture_command(capture, &graph->command[i]);
    if (result == REX_OK)
        result = join_lanes(capture);
    if (!rex_cuda_has_made(REX_CUDA(cuStreamEndCapture, capture->stream[0], made), made) &&
        result == REX_OK)
        result = failed("the end");
    return result;
}

/* ---- the driver's graph ---------------------------------------------------------------------- */

/*
 * Instantiates the graph. The context is retained as long as the graph is. The nodes are uploaded
 * in STREAM now, not at the first launch: for 4 000 launches that takes some milliseconds.
 */
static int instantiate(struct rex_graph *graph, void *stream)
{
    struct rex_driver_graph *made = &graph->made;
    void *context;
    if (rex_context_retain(graph->gpu.ordinal, &context) != 0)
        return failed("the context");
    if (REX_CUDA(cuGraphInstantiate, &made->executable, made->graph, 0) != 0)
        made->executable = NULL;
    else if (REX_CUDA(cuGraphUpload, made->executable, stream) == 0)
        return REX_OK;
    int result = failed("the nodes");
    if (made->executable != NULL)
        REX_CUDA(cuGraphExecDestroy, made->executable);
    made->executable = NULL;
    rex_context_drop(graph->gpu.ordinal);
    return result;
}

static int capture_and_instantiate(struct rex_graph *graph)
{
    struct driver_capture capture = {.graph = graph};
    int entered = rex_context_enter(graph->gpu.context);
    if (entered < 0)
        return failed("the context");
    int result = capture_all(&capture);
    if (result == REX_OK)
        result = instantiate(graph, capture.stream[0]);
    close_capture(&capture);
    rex_context_leave(entered);
    return result;
}

/* Destroys MADE, which may be incomplete. A child of fork has nothing of the driver. */
static void discard(const struct rex_graph *graph, struct rex_driver_graph *made)
{
    if (made->graph != NULL && graph->pooled.forks == rex_forks()) {
        int entered = rex_context_enter(graph->gpu.context); /* on failure, calls may still work */
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
    int result = graph->made.launch != NULL ? capture_and_instantiate(graph)
                                            : rex_fail_memory(size, "a graph");
    graph->stale = result != REX_OK;
    discard(graph, result == REX_OK ? &old : &graph->made);
    if (result != REX_OK)
        graph->made = old;
    return result;
}

void rex_graph_unbuild(struct rex_graph *graph)
{
    discard(graph, &graph->made);
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

int rex_graph_change(struct rex_graph *graph, size_t number, const struct rex_command *command)
{
    struct rex_packed packed;
    int entered = rex_context_enter(graph->gpu.context);
    int result = entered >= 0
                     ? rex_pack_launch(&graph->gpu, command->launch.module,
                                       &command->launch.description, &command->launch.map, &packed)
                     : failed("the context");
    if (result == REX_OK && rex_packed_set(&packed, &graph->gpu.arguments, graph->made.executable,
                                           graph->made.launch[number].node) != 0)
        result = rex_fail(REX_ECUDA, "kernel \"%.*s\" in a graph: %s",
                          REX_KERNEL_NAME(packed.kernel->name), rex_cuda_why());
    rex_context_leave(entered);
    return result;
}
