/*
 * slotgraph.c - launches by the driver as graphs of three nodes: copy in, kernel, copy out.
 *
 * On an H100 a launch of 80 bytes in and 40 out takes 11 us as a graph, and 16 by single calls; a
 * kernel alone saves a microsecond or two. Making a graph costs as much as many launches save: 15
 * us, and 150 for the first one in a process. So a graph is made after enough launches of a kernel
 * with about as many bytes (within an eighth). It always copies the larger number. A graph that the
 * driver refuses goes by single calls.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/slotgraph.h"

#include <string.h>

#include "cuda/context.h"

/* CU_STREAM_CAPTURE_MODE_RELAXED: calls by other threads do not end the capture. */
#define CAPTURE_RELAXED 2

static size_t step_of(size_t total)
{
    size_t step = 512;
    while (step < total / 8)
        step *= 2;
    return step;
}

static size_t up(size_t bytes, size_t step)
{
    return (bytes + step - 1) / step * step;
}

/* The room of a slot is a multiple of each step, so that rounded sizes stay inside. */
static struct rex_slot_graph class_of(const struct rex_driver_launch *launch)
{
    const struct rex_driver_rows *rows = &launch->rows;
    size_t step = step_of(rows->out_end);
    struct rex_slot_graph class = {.kernel = launch->packed.kernel, .in = up(rows->in, step)};
    if (rows->out_end > rows->out_begin) {
        class.out_begin = rows->out_begin / step * step;
        class.out_end = up(rows->out_end, step);
    }
    return class;
}

static bool is_same(const struct rex_slot_graph *one, const struct rex_slot_graph *other)
{
    return one->kernel == other->kernel && one->in == other->in &&
           one->out_begin == other->out_begin && one->out_end == other->out_end;
}

/* The graph of CLASS, or the place for a new one. */
static struct rex_slot_graph *find(struct rex_slot *slot, const struct rex_slot_graph *class)
{
    struct rex_slot_graph *oldest = &slot->graph[0];
    slot->uses++;
    for (size_t i = 0; i < REX_SLOT_GRAPHS; i++) {
        struct rex_slot_graph *graph = &slot->graph[i];
        if (is_same(graph, class)) {
            graph->used = slot->uses;
            return graph;
        }
        if (slot->uses - graph->used > slot->uses - oldest->used)
            oldest = graph;
    }
    rex_slot_graph_end(oldest);
    *oldest = *class;
    oldest->used = slot->uses;
    return oldest;
}

/* ---- creation -------------------------------------------------------------------------------- */

static bool capture_nodes(const struct rex_driver_launch *launch, struct rex_slot_graph *graph)
{
    struct rex_slot *slot = launch->slot;
    int status = 0;
    uint64_t id;
    void *captured, *const *last = NULL;
    size_t count = 0;
    if (graph->in > 0 &&
        REX_CUDA(cuMemcpyHtoDAsync, slot->arena, slot->staging, graph->in, slot->stream) != 0)
        return false;
    if (rex_packed_put(&launch->packed, &slot->arguments, slot->stream) != 0 ||
        REX_CUDA(cuStreamGetCaptureInfo, slot->stream, &status, &id, &captured, &last, &count) !=
            0 ||
        count != 1)
        return false;
    graph->node = last[0];
    return graph->out_end == 0 || REX_CUDA(cuMemcpyDtoHAsync, slot->staging + graph->out_begin,
                                           slot->arena + graph->out_begin,
                                           graph->out_end - graph->out_begin, slot->stream) == 0;
}

static bool make(const struct rex_driver_launch *launch, struct rex_slot_graph *graph)
{
    void *stream = launch->slot->stream;
    if (REX_CUDA(cuStreamBeginCapture, stream, CAPTURE_RELAXED) != 0)
        return false;
    bool captured = capture_nodes(launch, graph);
    if (REX_CUDA(cuStreamEndCapture, stream, &graph->graph) != 0) {
        graph->graph = NULL;
        return false;
    }
    if (!captured || REX_CUDA(cuGraphInstantiate, &graph->executable, graph->graph, 0) != 0)
        graph->executable = NULL;
    return graph->executable != NULL;
}

/* ---- launch ---------------------------------------------------------------------------------- */

static bool has_all(const struct rex_driver_launch *launch, const struct rex_slot_graph *graph)
{
    return memcmp(graph->grid, launch->packed.grid, sizeof graph->grid) == 0 &&
           memcmp(graph->block, launch->packed.block, sizeof graph->block) == 0 &&
           graph->dynamic_memory == launch->packed.dynamic_memory &&
           launch->packed.kernel->bytes <= REX_SLOT_VALUES &&
           memcmp(graph->values, launch->slot->arguments.values, launch->packed.kernel->bytes) == 0;
}

static void remember(const struct rex_driver_launch *launch, struct rex_slot_graph *graph)
{
    memcpy(graph->grid, launch->packed.grid, sizeof graph->grid);
    memcpy(graph->block, launch->packed.block, sizeof graph->block);
    graph->dynamic_memory = launch->packed.dynamic_memory;
    if (launch->packed.kernel->bytes <= REX_SLOT_VALUES)
        memcpy(graph->values, launch->slot->arguments.values, launch->packed.kernel->bytes);
}

/* Sets the kernel node only if it changes, because the driver takes a microsecond. */
static bool set_arguments(const struct rex_driver_launch *launch, struct rex_slot_graph *graph)
{
    if (has_all(launch, graph))
        return true;
    remember(launch, graph);
    return rex_packed_set(&launch->packed, &launch->slot->arguments, graph->executable,
                          graph->node) == 0;
}

/* Counts launches only until a graph pays. */
static bool pays(struct rex_slot_graph *graph)
{
    unsigned enough = graph->in > 0 || graph->out_end > 0 ? REX_GRAPH_PAYS : REX_GRAPH_PAYS_ALONE;
    if (graph->launches >= enough)
        return true;
    graph->launches++;
    return false;
}

static bool launch_as(const struct rex_driver_launch *launch, struct rex_slot_graph *graph)
{
    bool is_made = graph->executable != NULL;
    if (!is_made && !make(launch, graph))
        return false;
    if (!is_made)
        remember(launch, graph);
    return set_arguments(launch, graph) &&
           REX_CUDA(cuGraphLaunch, graph->executable, launch->slot->stream) == 0;
}

bool rex_slot_graph_launch(const struct rex_driver_launch *launch)
{
    const struct rex_slot_graph class = class_of(launch);
    struct rex_slot_graph *graph = find(launch->slot, &class);
    if (graph->is_refused || !pays(graph))
        return false;
    if (launch_as(launch, graph))
        return true;
    rex_slot_graph_end(graph);
    *graph = class;
    graph->is_refused = true;
    graph->used = launch->slot->uses;
    return false;
}
