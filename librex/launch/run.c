/*
 * run.c - runs the plan of a launch: copies, the kernel, the wait.
 *
 * Up to REX_STAGED_MOST bytes are staged: the processor copies the rows into one pinned buffer, and
 * the driver copies that to the arena; copies back go the same way. Larger memory, and memory that
 * the driver knows, is copied row by row from its place; threads copy large rows.
 *
 * With a few small rows the number of driver calls counts. So they go as a graph of three nodes:
 * copy in, kernel, copy out. On an H100 a launch of 80 bytes in and 40 out takes 11 us as a graph,
 * and 16 by single calls; a kernel alone saves a microsecond or two. Making a graph costs as much
 * as many launches save: 15 us, and 150 for the first one in a process. So a graph is made after
 * enough launches of a kernel with about as many bytes (within an eighth). It always copies the
 * larger number. A graph that the driver refuses goes by single calls.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/run.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "memory/copies.h"

/* ---- failures -------------------------------------------------------------------------------- */

static int failed(const struct rex_plan *plan, const char *what)
{
    return rex_fail(REX_ECUDA, "kernel \"%.*s\": %s: %s",
                    REX_KERNEL_NAME(plan->packed.kernel->name), what, rex_cuda_why());
}

/*
 * Reports a lost device. This launch is the first to know; no other call can use the device any
 * more.
 */
static int lost(const struct rex_plan *plan)
{
    const uint32_t *teams = plan->packed.grid.teams, *threads = plan->packed.grid.threads;
    char why[256], name[80];
    snprintf(why, sizeof why, "%s", rex_cuda_why());
    snprintf(name, sizeof name, "kernel \"%.*s\"", REX_KERNEL_NAME(plan->packed.kernel->name));
    rex_device_lose(plan->context->ordinal, plan->ranges.number, name, why);
    return rex_fail(REX_ECUDA, "kernel \"%.*s\", %u x %u x %u teams of %u x %u x %u threads: %s",
                    REX_KERNEL_NAME(plan->packed.kernel->name), teams[0], teams[1], teams[2],
                    threads[0], threads[1], threads[2], why);
}

/*
 * Waits after a failure, because work that was begun may still use the launch's memory. If the wait
 * fails, or a kernel failed before, the device is treated as lost.
 */
static int give_up(const struct rex_plan *plan, int result)
{
    bool is_lost = rex_cuda_noted() == REX_CUDA_ILLEGAL_ADDRESS;
    is_lost |= REX_CUDA(cuStreamSynchronize, plan->context->stream) != 0;
    return is_lost ? lost(plan) : result;
}

static int wait(const struct rex_plan *plan)
{
    int result = REX_CUDA(cuStreamSynchronize, plan->context->stream);
    if (result == 0)
        return REX_OK;
    return rex_cuda_is_of_call(result) ? give_up(plan, failed(plan, "the wait")) : lost(plan);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static int copy(const struct rex_plan *plan, uint64_t device, uintptr_t host, size_t size,
                int64_t direction)
{
    const struct rex_copy one = {
        .host = (void *)host, .device = device, .size = size, .to_host = direction == REX_MAP_FROM};
    return rex_copy_put(&one, plan->context->stream, true) == 0
               ? REX_OK
               : failed(plan, one.to_host ? "a copy from the device" : "a copy to the device");
}

static size_t size_of(const struct rex_own_row *own)
{
    return own->end - own->begin;
}

/* Copies all staged rows of a direction together. */
static int copy_staged(const struct rex_plan *plan, int64_t direction)
{
    const struct rex_staged *staged = &plan->staged;
    size_t begin = direction == REX_MAP_TO ? 0 : staged->out_begin,
           end = direction == REX_MAP_TO ? staged->in : staged->out_end;
    return begin < end ? copy(plan, plan->context->arena + begin,
                              (uintptr_t)plan->context->staging + begin, end - begin, direction)
                       : REX_OK;
}

static int copy_own(const struct rex_plan *plan, int64_t direction)
{
    int result = REX_OK;
    if (plan->is_staged)
        return copy_staged(plan, direction);
    for (size_t i = 0; i < plan->own_count && result == REX_OK; i++) {
        const struct rex_own_row *own = &plan->own[i];
        if (own->outer == i && (own->type & direction))
            result = copy(plan, own->device, own->begin, size_of(own), direction);
    }
    return result;
}

/* Copies mapped rows that have the always modifier. */
static int copy_updates(const struct rex_plan *plan, int64_t direction)
{
    const struct rex_map *map = plan->map;
    int result = REX_OK;
    for (size_t i = 0; i < plan->ranges.count && result == REX_OK; i++) {
        const struct rex_range *range = &plan->ranges.range[i];
        int32_t row = range->row;
        if (range->device != 0 && (map->types[row] & REX_MAP_ALWAYS) &&
            (map->types[row] & direction) && map->sizes[row] > 0)
            result = copy(plan, range->device, range->begin, (size_t)map->sizes[row], direction);
    }
    return result;
}

/* ---- device memory --------------------------------------------------------------------------- */

static void free_blocks(const struct rex_plan *plan)
{
    for (size_t i = 0; i < plan->own_count; i++)
        if (plan->own[i].device != 0)
            rex_block_give(plan->context->device, plan->own[i].device);
}

/*
 * Allocates for each row. Returns the first row without memory, and frees the others then; NULL:
 * none.
 */
static const struct rex_own_row *try_blocks(struct rex_plan *plan, bool exact)
{
    for (size_t i = 0; i < plan->own_count; i++)
        plan->own[i].device = 0;
    for (size_t i = 0; i < plan->own_count; i++) {
        struct rex_own_row *own = &plan->own[i];
        if (own->outer != i)
            continue;
        own->device = rex_block_take(plan->context->device, size_of(own), exact);
        if (own->device == 0) {
            free_blocks(plan);
            return own;
        }
    }
    return NULL;
}

/* Tries exact sizes last, because blocks that are kept are larger than a row. */
static int take_blocks(struct rex_plan *plan)
{
    const struct rex_own_row *failed = try_blocks(plan, plan->is_exact);
    if (failed != NULL && !plan->is_exact)
        failed = try_blocks(plan, true);
    return failed == NULL
               ? REX_OK
               : rex_fail(rex_cuda_memory_error(), "kernel \"%.*s\": map row %d, %zu bytes: %s",
                          REX_KERNEL_NAME(plan->packed.kernel->name), failed->row, size_of(failed),
                          rex_cuda_why());
}

/* ---- a graph --------------------------------------------------------------------------------- */

/* Most bytes of small rows that go with the kernel as one graph. */
#define GRAPH_MOST ((size_t)128 << 10)

/* CU_STREAM_CAPTURE_MODE_RELAXED: calls by other threads do not end the capture. */
#define CAPTURE_RELAXED 2

/*
 * The graph for KERNEL and STAGED, or the place for a new one. Its bytes are rounded up to steps.
 * The room of a context is a multiple of each step, so that they stay inside.
 */
static struct rex_launch_graph *find(struct rex_launch_context *context,
                                     const struct rex_loaded_kernel *kernel,
                                     const struct rex_staged *staged)
{
    struct rex_launch_graph class = {.kernel = kernel}, *oldest = &context->graph[0];
    size_t step = 512;
    while (step < staged->out_end / 8)
        step *= 2;
    class.in = (staged->in + step - 1) / step * step;
    if (staged->out_end > staged->out_begin) {
        class.out_begin = staged->out_begin / step * step;
        class.out_end = (staged->out_end + step - 1) / step * step;
    }
    class.used = ++context->uses;
    for (size_t i = 0; i < REX_LAUNCH_GRAPHS; i++) {
        struct rex_launch_graph *graph = &context->graph[i];
        if (graph->kernel == kernel && graph->in == class.in &&
            graph->out_begin == class.out_begin && graph->out_end == class.out_end) {
            graph->used = class.used;
            return graph;
        }
        if (class.used - graph->used > class.used - oldest->used)
            oldest = graph;
    }
    rex_launch_graph_end(oldest);
    *oldest = class;
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
    uint32_t bytes = packed->kernel->facts->layout->bytes;
    return memcmp(&graph->grid, &packed->grid, sizeof graph->grid) == 0 &&
           bytes <= REX_STAGED_VALUES && memcmp(graph->values, values, bytes) == 0;
}

static void remember(struct rex_launch_graph *graph, const struct rex_packed *packed,
                     const unsigned char *values)
{
    uint32_t bytes = packed->kernel->facts->layout->bytes;
    graph->grid = packed->grid;
    if (bytes <= REX_STAGED_VALUES)
        memcpy(graph->values, values, bytes);
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

/*
 * Whether the launch goes as a graph, now in the stream. If not, nothing is there. Launches are
 * counted only until a graph pays.
 */
static bool launch_as_graph(const struct rex_plan *plan)
{
    const struct rex_staged *staged = &plan->staged;
    struct rex_launch_context *context = plan->context;
    if (!plan->is_staged || plan->has_updates || staged->in > GRAPH_MOST ||
        staged->out_end - staged->out_begin > GRAPH_MOST)
        return false;
    struct rex_launch_graph *graph = find(context, plan->packed.kernel, staged);
    unsigned enough = graph->in > 0 || graph->out_end > 0 ? REX_GRAPH_PAYS : REX_GRAPH_PAYS_ALONE;
    if (graph->is_refused || graph->launches < enough) {
        graph->launches += !graph->is_refused;
        return false;
    }
    if (launch_as(context, &plan->packed, graph))
        return true;
    const struct rex_launch_graph refused = {.kernel = graph->kernel,
                                             .in = graph->in,
                                             .out_begin = graph->out_begin,
                                             .out_end = graph->out_end,
                                             .is_refused = true,
                                             .used = context->uses};
    rex_launch_graph_end(graph);
    *graph = refused;
    return false;
}

/* ---- the launch ------------------------------------------------------------------------------ */

static void stage(const struct rex_plan *plan, int64_t direction)
{
    for (size_t i = 0; i < plan->own_count; i++) {
        const struct rex_own_row *own = &plan->own[i];
        unsigned char *staged = plan->context->staging + own->offset;
        if (own->outer != i || !(own->type & direction))
            continue;
        if (direction == REX_MAP_TO)
            memcpy(staged, (const void *)own->begin, size_of(own));
        else
            memcpy((void *)own->begin, staged, size_of(own));
    }
}

static int put_in_stream(const struct rex_plan *plan)
{
    const struct rex_launch_context *context = plan->context;
    int result = plan->has_updates ? copy_updates(plan, REX_MAP_TO) : REX_OK;
    if (result == REX_OK && plan->own_count > 0)
        result = copy_own(plan, REX_MAP_TO);
    if (result == REX_OK &&
        rex_packed_put(&plan->packed, &context->arguments, context->stream) != 0)
        result = rex_packed_failed(&plan->packed);
    if (result == REX_OK && plan->own_count > 0)
        result = copy_own(plan, REX_MAP_FROM);
    return result == REX_OK && plan->has_updates ? copy_updates(plan, REX_MAP_FROM) : result;
}

/* Rows of no elements that point into an own row get their address there. */
static void find_empty(const struct rex_plan *plan)
{
    for (size_t i = 0; i < plan->ranges.count; i++) {
        const struct rex_range *range = &plan->ranges.range[i];
        for (size_t j = 0; j < plan->own_count; j++) {
            const struct rex_own_row *own = &plan->own[j];
            if (range->device == 0 && plan->map->sizes[range->row] == 0 &&
                !(own->type & REX_MAP_PRIVATE) && own->begin <= range->begin &&
                range->begin < own->end)
                plan->device[range->row] = plan->device[own->row] + (range->begin - own->begin);
        }
    }
}

/* The own rows have their memory. */
static int run(const struct rex_plan *plan)
{
    int result = REX_OK;
    for (size_t i = 0; i < plan->own_count; i++) {
        const struct rex_own_row *own = &plan->own[i], *outer = &plan->own[own->outer];
        uint64_t device = plan->is_staged ? plan->context->arena + outer->offset : outer->device;
        plan->device[own->row] = (uintptr_t)device + (own->begin - outer->begin);
    }
    if (plan->has_empty)
        find_empty(plan);
    result = rex_pack_arguments(&plan->context->arguments, plan->packed.kernel, plan->form,
                                plan->map, plan->device);
    if (result != REX_OK)
        return result;
    bool stages = plan->is_staged && plan->own_count > 0;
    if (stages)
        stage(plan, REX_MAP_TO);
    if (!launch_as_graph(plan))
        result = put_in_stream(plan);
    result = result == REX_OK ? wait(plan) : give_up(plan, result);
    if (result == REX_OK && stages)
        stage(plan, REX_MAP_FROM);
    return result;
}

int rex_plan_run(struct rex_plan *plan)
{
    struct rex_launch_context *context = plan->context;
    size_t total = plan->staged.total;
    int result = REX_OK;
    plan->is_staged = total <= REX_STAGED_MOST && !plan->is_exact && plan->is_pageable;
    if (!plan->is_staged)
        result = take_blocks(plan);
    else if (total > context->room)
        result = rex_launch_context_make_room(context, total, plan->packed.kernel->name);
    if (result != REX_OK)
        return result;
    result = run(plan);
    if (!plan->is_staged)
        free_blocks(plan);
    return result;
}
