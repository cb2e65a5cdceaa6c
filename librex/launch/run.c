/*
 * run.c - runs the plan of a launch: copies the rows, launches the kernel, and waits.
 *
 * The rows that are not mapped are staged if all of them are pageable, and have at most
 * REX_STAGED_MOST bytes together. The processor copies staged rows into one pinned buffer, and the
 * driver copies the buffer to the arena, a buffer on the device. Staged rows are copied back by the
 * reverse steps. Rows that are not staged are copied one by one, without the buffers. Threads may
 * copy large rows (memory/makecopy.h).
 *
 * With a few small rows, the number of driver calls determines the time. So such a launch becomes a
 * graph of three nodes: copy to the device, kernel, copy back. On an H100 a launch of 80 bytes in
 * and 40 out takes 11 us as a graph, and 16 us by single calls. A graph for a kernel without copies
 * saves a microsecond or two.
 *
 * The first graph of a process takes 150 us to make, and each later graph 15 us. Only many launches
 * by a graph save this time. So a graph is made only after many launches of a kernel with similar
 * numbers of bytes (launch/run.h). find_launch_graph() rounds these numbers, so that one graph fits
 * all these launches. If the driver refuses a graph, single calls launch.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "cuda/deferred.h"
#include "cuda/lost.h"
#include "memory/makecopy.h"

/* ---- failures -------------------------------------------------------------------------------- */

static int run_failed(const struct rex_plan *plan, const char *what)
{
    return rex_fail(REX_ECUDA, "kernel \"%.*s\": %s failed: %s",
                    REX_KERNEL_NAME(plan->packed.kernel->name), what, rex_cuda_why());
}

/*
 * Waits for the stream after a failure, because commands in the stream may still use the memory of
 * the launch. FOUND is the error of the caller's wait. If FOUND is 0, the caller has not waited,
 * and RESULT is the error of the launch. Marks the device as lost if a kernel failed, or if the
 * wait of this function fails. Returns an error.
 */
static __attribute__((noinline)) int wait_after_failure(const struct rex_plan *plan, int result,
                                                        int found)
{
    const uint32_t *teams = plan->packed.grid.teams, *threads = plan->packed.grid.threads;
    struct rex_kernel_list list = {.count = 0};
    char why[256], name[80], beside[REX_KERNEL_LIST_TEXT];
    bool is_lost = found != 0 && !rex_cuda_is_of_call(found);
    if (!is_lost) {
        if (found != 0)
            result = run_failed(plan, "the wait");
        is_lost = rex_cuda_noted() == REX_CUDA_ILLEGAL_ADDRESS;
        is_lost |= REX_CUDA(cuStreamSynchronize, plan->context->stream) != 0;
    }
    if (!is_lost)
        return result;
    snprintf(why, sizeof why, "%s", rex_cuda_why());
    snprintf(name, sizeof name, "kernel \"%.*s\"", REX_KERNEL_NAME(plan->packed.kernel->name));
    rex_device_lose(plan->context->ordinal, plan->ranges.number, name, why, NULL);
    rex_deferred_kernels(plan->ranges.number, &list);
    rex_kernel_list_text(&list, beside);
    return rex_fail(REX_ECUDA,
                    "kernel \"%.*s\", %u x %u x %u teams of %u x %u x %u threads: %s%s%s",
                    REX_KERNEL_NAME(plan->packed.kernel->name), teams[0], teams[1], teams[2],
                    threads[0], threads[1], threads[2], why,
                    list.count > 0 ? "; earlier kernels that may have failed instead: " : "",
                    list.count > 0 ? beside : "");
}

/* ---- copies ---------------------------------------------------------------------------------- */

static int copy_in_stream(const struct rex_plan *plan, uint64_t device, uintptr_t host, size_t size,
                          int64_t direction)
{
    const struct rex_copy one = {
        .host = (void *)host, .device = device, .size = size, .to_host = direction == REX_MAP_FROM};
    if (rex_copy_put(&one, plan->context->stream, true) == 0)
        return REX_OK;
    return run_failed(plan, one.to_host ? "a copy from the device" : "a copy to the device");
}

static int copy_own_rows(const struct rex_plan *plan, int64_t direction)
{
    if (plan->is_staged) { /* one copy transfers all own rows */
        const struct rex_launch_context *context = plan->context;
        bool is_out = direction == REX_MAP_FROM;
        size_t begin = is_out ? plan->staged.out_begin : 0;
        size_t end = is_out ? plan->staged.out_end : plan->staged.in;
        if (begin >= end)
            return REX_OK;
        return copy_in_stream(plan, context->arena + begin, (uintptr_t)context->staging + begin,
                              end - begin, direction);
    }
    for (size_t i = 0; i < plan->own_count; i++) {
        const struct rex_own_row *own = &plan->own[i];
        if (own->outer != i || !(own->type & direction))
            continue;
        int result = copy_in_stream(plan, own->device, own->span.begin, rex_span_size(&own->span),
                                    direction);
        if (result != REX_OK)
            return result;
    }
    return REX_OK;
}

/* Copies, in DIRECTION, the mapped rows that have REX_MAP_ALWAYS. Returns 0 or an error. */
static int copy_updated_rows(const struct rex_plan *plan, int64_t direction)
{
    const struct rex_map *map = plan->map;
    for (size_t i = 0; i < plan->ranges.count; i++) {
        const struct rex_range *range = &plan->ranges.range[i];
        int64_t type = map->types[range->row], size = map->sizes[range->row];
        if (range->device == 0 || !(type & REX_MAP_ALWAYS) || !(type & direction) || size <= 0)
            continue;
        int result = copy_in_stream(plan, range->device, range->begin, (size_t)size, direction);
        if (result != REX_OK)
            return result;
    }
    return REX_OK;
}

/* ---- device memory --------------------------------------------------------------------------- */

static void free_row_blocks(const struct rex_plan *plan)
{
    for (size_t i = 0; i < plan->own_count; i++)
        if (plan->own[i].device != 0)
            rex_block_give(plan->context->device, plan->own[i].device);
}

/*
 * Takes device memory for own rows: rows that are not mapped (launch/plan.h). A block from the
 * cache may be larger than its row. So if memory runs out, tries again with blocks of the exact
 * sizes.
 */
static int take_row_blocks(struct rex_plan *plan)
{
    bool exact = plan->is_exact;
    size_t i, size;
try_size:
    for (i = 0; i < plan->own_count; i++)
        plan->own[i].device = 0;
    for (i = 0; i < plan->own_count; i++) {
        struct rex_own_row *own = &plan->own[i];
        if (own->outer != i)
            continue;
        size = rex_span_size(&own->span);
        own->device = rex_block_take(plan->context->device, size, exact);
        if (own->device == 0)
            goto free_blocks;
    }
    return REX_OK;
free_blocks:
    free_row_blocks(plan);
    if (!exact) {
        exact = true;
        goto try_size;
    }
    return rex_fail(rex_cuda_memory_error(),
                    "kernel \"%.*s\": map row %d: %zu bytes of device memory cannot be allocated: "
                    "%s",
                    REX_KERNEL_NAME(plan->packed.kernel->name), plan->own[i].span.row, size,
                    rex_cuda_why());
}

/* ---- a launch as a graph --------------------------------------------------------------------- */

/* A launch that copies more bytes than this in one direction does not become a graph. */
#define GRAPH_MOST ((size_t)128 << 10)

/*
 * Returns the graph for KERNEL and STAGED. If there is none, ends the graph that was used least
 * recently, and returns the array element of the ended graph, for a new graph.
 *
 * A graph copies whole multiples of `step` bytes, so that similar launches share the graph.
 * Example: with a `step` of 512, launches that copy 600 or 1000 bytes to the device share a graph
 * that copies 1024 bytes. The size of the arena is a multiple of `step`, so such a copy stays
 * inside the arena.
 */
static struct rex_launch_graph *find_launch_graph(struct rex_launch_context *context,
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

/*
 * If GRAPH is new, makes the driver's graph for GRAPH. Then launches GRAPH. Updates the kernel node
 * only if the grid or the arguments have changed, because each change of the node takes a
 * microsecond. Returns false on failure.
 */
static bool put_launch_graph(struct rex_launch_context *context, const struct rex_packed *packed,
                             struct rex_launch_graph *graph)
{
    const struct rex_arguments *arguments = &context->arguments;
    uint32_t bytes = packed->kernel->facts->layout->bytes;
    void *stream = context->stream;
    bool is_new = graph->executable == NULL;
    if (is_new) {
        if (REX_CUDA(cuStreamBeginCapture, stream, REX_CAPTURE_RELAXED) != 0)
            return false;
        /* End the capture even after a failure: an open capture would make the stream unusable. */
        bool is_captured = (graph->in == 0 || REX_CUDA(cuMemcpyHtoDAsync, context->arena,
                                                       context->staging, graph->in, stream) == 0) &&
                           rex_packed_put(packed, arguments, stream) == 0;
        if (is_captured) {
            graph->node = rex_capture_last_node(stream);
            is_captured = graph->node != NULL;
        }
        if (is_captured && graph->out_end > 0)
            is_captured = REX_CUDA(cuMemcpyDtoHAsync, context->staging + graph->out_begin,
                                   context->arena + graph->out_begin,
                                   graph->out_end - graph->out_begin, stream) == 0;
        if (!rex_cuda_has_made(REX_CUDA(cuStreamEndCapture, stream, &graph->graph),
                               &graph->graph) ||
            !is_captured ||
            !rex_cuda_has_made(REX_CUDA(cuGraphInstantiate, &graph->executable, graph->graph, 0),
                               &graph->executable))
            return false;
    }
    bool is_set = graph->values != NULL &&
                  memcmp(&graph->grid, &packed->grid, sizeof graph->grid) == 0 &&
                  memcmp(graph->values, arguments->values, bytes) == 0;
    if (!is_set) {
        graph->grid = packed->grid;
        if (graph->values == NULL)
            graph->values = malloc(bytes);
        if (graph->values != NULL)
            memcpy(graph->values, arguments->values, bytes);
    }
    if (!is_new && !is_set &&
        rex_packed_set(packed, arguments, graph->executable, graph->node) != 0)
        return false;
    return REX_CUDA(cuGraphLaunch, graph->executable, stream) == 0;
}

/*
 * Launches PLAN as a graph if a graph can make the launch, and enough similar launches came before
 * (launch/run.h). If too few came before, only counts the launch. Returns false if nothing was put
 * in the stream. The caller then launches by single calls.
 */
static bool launch_as_graph(const struct rex_plan *plan)
{
    const struct rex_staged *staged = &plan->staged;
    struct rex_launch_context *context = plan->context;
    /*
     * A launch with attributes does not become a graph, because the attributes of a kernel node
     * cannot be changed later.
     */
    if (!plan->is_staged || plan->has_updates || staged->in > GRAPH_MOST ||
        staged->out_end - staged->out_begin > GRAPH_MOST || plan->packed.grid.attributes != 0)
        return false;
    struct rex_launch_graph *graph = find_launch_graph(context, plan->packed.kernel, staged);
    unsigned enough = graph->in > 0 || graph->out_end > 0 ? REX_GRAPH_PAYS : REX_GRAPH_PAYS_ALONE;
    if (graph->is_refused || graph->launches < enough) {
        graph->launches += !graph->is_refused;
        return false;
    }
    if (put_launch_graph(context, &plan->packed, graph))
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

/* ---- the plan -------------------------------------------------------------------------------- */

static void stage_rows(const struct rex_plan *plan, int64_t direction)
{
    for (size_t i = 0; i < plan->own_count; i++) {
        const struct rex_own_row *own = &plan->own[i];
        unsigned char *staged = plan->context->staging + own->offset;
        if (own->outer != i || !(own->type & direction))
            continue;
        REX_ASSERT(own->offset + rex_span_size(&own->span) <= plan->staged.total);
        if (direction == REX_MAP_TO)
            memcpy(staged, (const void *)own->span.begin, rex_span_size(&own->span));
        else
            memcpy((void *)own->span.begin, staged, rex_span_size(&own->span));
    }
}

static int put_in_stream(const struct rex_plan *plan)
{
    const struct rex_launch_context *context = plan->context;
    int result = REX_OK;
    if (plan->has_updates)
        result = copy_updated_rows(plan, REX_MAP_TO);
    if (result != REX_OK)
        return result;
    if (plan->own_count > 0)
        result = copy_own_rows(plan, REX_MAP_TO);
    if (result != REX_OK)
        return result;
    if (rex_packed_put(&plan->packed, &context->arguments, context->stream) != 0)
        return rex_packed_failed(&plan->packed);
    if (plan->own_count > 0)
        result = copy_own_rows(plan, REX_MAP_FROM);
    if (result != REX_OK || !plan->has_updates)
        return result;
    return copy_updated_rows(plan, REX_MAP_FROM);
}

int rex_plan_run(struct rex_plan *plan)
{
    struct rex_launch_context *context = plan->context;
    size_t total = plan->staged.total;
    int result = REX_OK, found = 0;
    plan->is_staged = total <= REX_STAGED_MOST && !plan->is_exact && plan->is_pageable;
    if (!plan->is_staged)
        result = take_row_blocks(plan);
    else if (total > context->room)
        result = rex_launch_context_make_room(context, total, plan->packed.kernel->name);
    if (result != REX_OK)
        return result;
    for (size_t i = 0; i < plan->own_count; i++) {
        const struct rex_own_row *own = &plan->own[i], *outer = &plan->own[own->outer];
        uint64_t device = plan->is_staged ? context->arena + outer->offset : outer->device;
        plan->device[own->span.row] = (uintptr_t)device + (own->span.begin - outer->span.begin);
    }
    /*
     * A row of size 0, such as a[4:0], may begin inside an own row (launch/plan.h), such as a[0:8].
     * The kernel then gets the device address of a[4].
     */
    for (size_t i = 0; plan->has_empty && i < plan->ranges.count; i++) {
        const struct rex_range *range = &plan->ranges.range[i];
        for (size_t j = 0; j < plan->own_count; j++) {
            const struct rex_own_row *own = &plan->own[j];
            if (range->device == 0 && plan->map->sizes[range->row] == 0 &&
                !(own->type & REX_MAP_PRIVATE) && own->span.begin <= range->begin &&
                range->begin < own->span.end)
                plan->device[range->row] =
                    plan->device[own->span.row] + (range->begin - own->span.begin);
        }
    }
    result = rex_pack_arguments(&context->arguments, plan->packed.kernel, plan->form, plan->map,
                                plan->device);
    if (result != REX_OK)
        goto free_blocks;
    if (plan->is_staged && plan->own_count > 0)
        stage_rows(plan, REX_MAP_TO);
    if (!launch_as_graph(plan))
        result = put_in_stream(plan);
    if (result == REX_OK)
        found = REX_CUDA(cuStreamSynchronize, context->stream);
    if (result != REX_OK || found != 0)
        result = wait_after_failure(plan, result, found);
    if (result == REX_OK && plan->is_staged && plan->own_count > 0)
        stage_rows(plan, REX_MAP_FROM);
free_blocks:
    if (!plan->is_staged)
        free_row_blocks(plan);
    return result;
}
