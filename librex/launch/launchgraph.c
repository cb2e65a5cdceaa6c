/*
 * launchgraph.c - launches as graphs of three nodes: copy in, kernel, copy out.
 *
 * On an H100 a launch of 80 bytes in and 40 out takes 11 us as a graph, and 16 by single calls; a
 * kernel alone saves a microsecond or two. Making a graph costs as much as many launches save: 15
 * us, and 150 for the first one in a process. So a graph is made after enough launches of a kernel
 * with about as many bytes (within an eighth). It always copies the larger number. A graph that the
 * driver refuses goes by single calls.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/launchgraph.h"

#include <string.h>

/* CU_STREAM_CAPTURE_MODE_RELAXED: calls by other threads do not end the capture. */
#define CAPTURE_RELAXED 2

/*
 * The bytes that a graph for KERNEL and STAGED copies. The room of a context is a multiple of each
 * step, so that rounded sizes stay inside.
 */
static struct rex_launch_graph class_of(const struct rex_loaded_kernel *kernel,
                                        const struct rex_staged *staged)
{
    struct rex_launch_graph class = {.kernel = kernel};
    size_t step = 512;
    while (step < staged->out_end / 8)
        step *= 2;
    class.in = (staged->in + step - 1) / step * step;
    if (staged->out_end > staged->out_begin) {
        class.out_begin = staged->out_begin / step * step;
        class.out_end = (staged->out_end + step - 1) / step * step;
    }
    return class;
}

/* The graph of CLASS, or the place for a new one. */
static struct rex_launch_graph *find(struct rex_launch_context *context,
                                     const struct rex_launch_graph *class)
{
    struct rex_launch_graph *oldest = &context->graph[0];
    context->uses++;
    for (size_t i = 0; i < REX_LAUNCH_GRAPHS; i++) {
        struct rex_launch_graph *graph = &context->graph[i];
        if (graph->kernel == class->kernel && graph->in == class->in &&
            graph->out_begin == class->out_begin && graph->out_end == class->out_end) {
            graph->used = context->uses;
            return graph;
        }
        if (context->uses - graph->used > context->uses - oldest->used)
            oldest = graph;
    }
    rex_launch_graph_end(oldest);
    *oldest = *class;
    oldest->used = context->uses;
    return oldest;
}

static bool capture_nodes(struct rex_launch_context *context, const struct rex_packed *packed,
                          struct rex_launch_graph *graph)
{
    int status = 0;
    uint64_t id;
    void *captured, *const *last = NULL;
    size_t count = 0;
    if (graph->in > 0 && REX_CUDA(cuMemcpyHtoDAsync, context->arena, context->staging, graph->in,
                                  context->stream) != 0)
        return false;
    if (rex_packed_put(packed, &context->arguments, context->stream) != 0 ||
        REX_CUDA(cuStreamGetCaptureInfo, context->stream, &status, &id, &captured, &last, &count) !=
            0 ||
        count != 1)
        return false;
    graph->node = last[0];
    return graph->out_end == 0 || REX_CUDA(cuMemcpyDtoHAsync, context->staging + graph->out_begin,
                                           context->arena + graph->out_begin,
                                           graph->out_end - graph->out_begin, context->stream) == 0;
}

static bool make(struct rex_launch_context *context, const struct rex_packed *packed,
                 struct rex_launch_graph *graph)
{
    if (REX_CUDA(cuStreamBeginCapture, context->stream, CAPTURE_RELAXED) != 0)
        return false;
    bool captured = capture_nodes(context, packed, graph);
    if (REX_CUDA(cuStreamEndCapture, context->stream, &graph->graph) != 0) {
        graph->graph = NULL;
        return false;
    }
    if (!captured || REX_CUDA(cuGraphInstantiate, &graph->executable, graph->graph, 0) != 0)
        graph->executable = NULL;
    return graph->executable != NULL;
}

static bool has_all(const struct rex_launch_graph *graph, const struct rex_packed *packed,
                    const unsigned char *values)
{
    return memcmp(graph->grid, packed->grid, sizeof graph->grid) == 0 &&
           memcmp(graph->block, packed->block, sizeof graph->block) == 0 &&
           graph->dynamic_memory == packed->dynamic_memory &&
           packed->kernel->bytes <= REX_STAGED_VALUES &&
           memcmp(graph->values, values, packed->kernel->bytes) == 0;
}

static void remember(struct rex_launch_graph *graph, const struct rex_packed *packed,
                     const unsigned char *values)
{
    memcpy(graph->grid, packed->grid, sizeof graph->grid);
    memcpy(graph->block, packed->block, sizeof graph->block);
    graph->dynamic_memory = packed->dynamic_memory;
    if (packed->kernel->bytes <= REX_STAGED_VALUES)
        memcpy(graph->values, values, packed->kernel->bytes);
}

/* Sets the kernel node only if it changes, because the driver takes a microsecond. */
static bool launch_as(struct rex_launch_context *context, const struct rex_packed *packed,
                      struct rex_launch_graph *graph)
{
    const struct rex_arguments *arguments = &context->arguments;
    bool is_new = graph->executable == NULL;
    if (is_new && !make(context, packed, graph))
        return false;
    bool is_set = has_all(graph, packed, arguments->values);
    if (!is_set)
        remember(graph, packed, arguments->values);
    if (!is_new && !is_set &&
        rex_packed_set(packed, arguments, graph->executable, graph->node) != 0)
        return false;
    return REX_CUDA(cuGraphLaunch, graph->executable, context->stream) == 0;
}

/* Counts launches only until a graph pays. */
bool rex_launch_as_graph(struct rex_launch_context *context, const struct rex_packed *packed,
                         const struct rex_staged *staged)
{
    const struct rex_launch_graph class = class_of(packed->kernel, staged);
    struct rex_launch_graph *graph = find(context, &class);
    unsigned enough = class.in > 0 || class.out_end > 0 ? REX_GRAPH_PAYS : REX_GRAPH_PAYS_ALONE;
    if (graph->is_refused || graph->launches < enough) {
        graph->launches += !graph->is_refused;
        return false;
    }
    if (launch_as(context, packed, graph))
        return true;
    rex_launch_graph_end(graph);
    *graph = class;
    graph->is_refused = true;
    graph->used = context->uses;
    return false;
}
