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
#include "omp/present.h"
#include "omp/unfinished.h"

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
    void *made; /* the driver's graph */
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

static int hold_image(struct rex_graph *graph, struct rex_loaded_image *image)
{
    for (size_t i = 0; i < graph->images; i++)
        if (graph->image[i] == image)
            return REX_OK;
    struct rex_loaded_image **images =
        reallocarray(graph->image, graph->images + 1, sizeof *images);
    if (images == NULL)
        return rex_fail_memory((graph->images + 1) * sizeof *images, "a graph");
    graph->image = images;
    graph->image[graph->images++] = image;
    rex_loaded_image_hold(image);
    return REX_OK;
}

/* Takes the node of the launch captured last: the stream's next command would depend on it. */
static int add_node(struct driver_capture *capture, void *stream,
                    const struct rex_loaded_kernel *kernel, size_t launch)
{
    struct rex_graph *graph = capture->graph;
    int status = 0;
    uint64_t id;
    void *driver_graph, *const *last = NULL;
    size_t count = 0;
    if (REX_CUDA(cuStreamGetCaptureInfo, stream, &status, &id, &driver_graph, &last, &count) != 0 ||
        count != 1)
        return failed("a launch");
    graph->node[launch] = last[0];
    rex_kernel_list_add(&graph->kernels, kernel->name, kernel->image->registration);
    return hold_image(graph, kernel->image);
}

static int capture_event(struct driver_capture *capture, const struct rex_command *command)
{
    void *stream = capture->stream[command->lane], *event = capture->event[command->event.point];
    if (command->kind == REX_COMMAND_RECORD)
        return REX_CUDA(cuEventRecord, event, stream) == 0 ? REX_OK : failed("an event");
    capture->began[command->lane] = true;
    return REX_CUDA(cuStreamWaitEvent, stream, event, 0) == 0 ? REX_OK : failed("a wait");
}

static int capture_command(struct driver_capture *capture, const struct rex_command *command,
                           size_t *launch)
{
    struct rex_loaded_kernel *kernel = NULL;
    void *stream = capture->stream[command->lane];
    if (command->kind == REX_COMMAND_RECORD || command->kind == REX_COMMAND_WAIT)
        return capture_event(capture, command);
    int result = rex_command_submit(&capture->graph->gpu, stream, command, &kernel);
    return result == REX_OK && kernel != NULL ? add_node(capture, stream, kernel, (*launch)++)
                                              : result;
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
    size_t launch = 0;
    int result = open_capture(capture);
    if (result != REX_OK)
        return result;
    for (size_t i = 0; i < capture->graph->count && result == REX_OK; i++)
        result = capture_command(capture, &capture->graph->command[i], &launch);
    if (result == REX_OK)
        result = join_lanes(capture);
    if (!rex_cuda_has_made(REX_CUDA(cuStreamEndCapture, capture->stream[0], &capture->made),
                           &capture->made) &&
        result == REX_OK)
        result = failed("the end");
    return result;
}

/* ---- the driver's graph ---------------------------------------------------------------------- */

static void drop_images(struct rex_loaded_image **image, size_t images)
{
    for (size_t i = 0; i < images; i++)
        rex_loaded_image_drop(image[i]);
    free(image);
}

/*
 * Instantiates the graph. The context is retained as long as the graph is. The nodes are uploaded
 * in STREAM now, not at the first launch: for 4 000 launches that takes some milliseconds.
 */
static int instantiate(struct rex_graph *graph, void *made, void *stream)
{
    void *context;
    if (rex_context_retain(graph->gpu.ordinal, &context) != 0)
        return failed("the context");
    if (REX_CUDA(cuGraphInstantiate, &graph->executable, made, 0) != 0)
        graph->executable = NULL;
    else if (REX_CUDA(cuGraphUpload, graph->executable, stream) == 0)
        return REX_OK;
    int result = failed("the nodes");
    if (graph->executable != NULL)
        REX_CUDA(cuGraphExecDestroy, graph->executable);
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
        result = instantiate(graph, capture.made, capture.stream[0]);
    close_capture(&capture);
    if (result == REX_OK)
        graph->graph = capture.made;
    else if (capture.made != NULL)
        REX_CUDA(cuGraphDestroy, capture.made);
    rex_context_leave(entered);
    return result;
}

static void discard(struct rex_graph *graph)
{
    if (graph->executable != NULL && graph->forks == rex_forks()) {
        int entered = rex_context_enter(graph->gpu.context); /* on failure, calls may still work */
        REX_CUDA(cuGraphExecDestroy, graph->executable);
        REX_CUDA(cuGraphDestroy, graph->graph);
        rex_context_leave(entered);
        drop_images(graph->image, graph->images);
        rex_context_drop(graph->gpu.ordinal);
    }
    free(graph->node);
}

/* Makes GRAPH again. OLD is its copy from before, which is restored if this fails. */
static int build(struct rex_graph *graph, struct rex_graph *old)
{
    uint64_t generation = rex_mapping_now();
    graph->image = NULL;
    graph->images = 0;
    graph->kernels.count = 0;
    graph->node = calloc(graph->launches + 1, sizeof *graph->node);
    int result = graph->node != NULL
                     ? capture_and_instantiate(graph)
                     : rex_fail_memory(graph->launches * sizeof *graph->node, "a graph");
    if (result == REX_OK) {
        discard(old);
        graph->generation = generation;
        graph->stale = false;
        return REX_OK;
    }
    drop_images(graph->image, graph->images);
    free(graph->node);
    graph->executable = old->executable;
    graph->image = old->image;
    graph->images = old->images;
    graph->node = old->node;
    return result;
}

int rex_graph_build(struct rex_graph *graph)
{
    struct rex_graph *old = malloc(sizeof *old);
    if (old == NULL)
        return rex_fail_memory(sizeof *old, "a graph");
    *old = *graph;
    int result = build(graph, old);
    free(old);
    return result;
}

void rex_graph_unbuild(struct rex_graph *graph)
{
    discard(graph);
}

int rex_graph_refresh(struct rex_graph *graph)
{
    uint64_t generation = rex_mapping_now();
    if (graph->gpu.remember && !graph->stale && generation == graph->generation)
        return REX_OK;
    bool is_same =
        rex_addresses_renew(&graph->gpu.addresses, graph->gpu.number,
                            graph->gpu.remember ? generation : rex_addresses_new_generation());
    if (is_same && !graph->stale) {
        graph->generation = generation;
        return REX_OK;
    }
    graph->stale = true;
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
    if (result == REX_OK &&
        rex_packed_set(&packed, &graph->gpu.arguments, graph->executable, graph->node[number]) != 0)
        result = rex_fail(REX_ECUDA, "kernel \"%s\" in a graph: %s", packed.kernel->name,
                          rex_cuda_why());
    rex_context_leave(entered);
    return result;
}
