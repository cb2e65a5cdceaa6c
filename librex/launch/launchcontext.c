/*
 * launchcontext.c - launch contexts: the resources of launches by the driver, each for one launch
 * at a time, and launches as graphs of three nodes: copy in, kernel, copy out.
 *
 * A thread that launches takes an idle context or makes one. At most 64 idle contexts are kept on
 * each GPU, or one for each processor if these are more. Before an image is unloaded all are ended,
 * because graphs refer to its kernels and the GPU's context may end with it. No launch is at work
 * then.
 *
 * On an H100 a launch of 80 bytes in and 40 out takes 11 us as a graph, and 16 by single calls; a
 * kernel alone saves a microsecond or two. Making a graph costs as much as many launches save: 15
 * us, and 150 for the first one in a process. So a graph is made after enough launches of a kernel
 * with about as many bytes (within an eighth). It always copies the larger number. A graph that the
 * driver refuses goes by single calls.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/launchcontext.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cuda/context.h"
#include "omp/device.h"

#define IDLE_LEAST 64

/* The driver's number of each of libomptarget's devices, plus 2; 0: not asked yet. Atomic. */
static int ordinals[REX_CUDA_DEVICES_MAX];

/* ---- destruction ----------------------------------------------------------------------------- */

static void end_graph(struct rex_launch_graph *graph)
{
    if (graph->executable != NULL)
        REX_CUDA(cuGraphExecDestroy, graph->executable);
    if (graph->graph != NULL)
        REX_CUDA(cuGraphDestroy, graph->graph);
    memset(graph, 0, sizeof *graph);
}

static void free_room(struct rex_launch_context *context)
{
    for (size_t i = 0; i < REX_LAUNCH_GRAPHS; i++)
        end_graph(&context->graph[i]);
    if (context->arena != 0)
        REX_CUDA(cuMemFree, context->arena);
    if (context->staging != NULL)
        REX_CUDA(cuMemFreeHost, context->staging);
    context->arena = 0;
    context->staging = NULL;
    context->room = 0;
}

static void end_context(struct rex_launch_context *context)
{
    int entered = rex_context_enter(context->cuda); /* if it fails, the calls may still work */
    free_room(context);
    if (context->stream != NULL)
        REX_CUDA(cuStreamDestroy, context->stream);
    rex_context_leave(entered);
    rex_context_drop(context->ordinal);
    rex_arguments_free(&context->arguments);
    free(context->rows);
    free(context);
}

/* Called when a registration ends; the context of GPU ORDINAL is current. */
static void end_all(int ordinal)
{
    struct rex_device *device = &rex_devices[ordinal];
    rex_lists_lock();
    struct rex_launch_context *out = device->idle;
    device->idle = NULL;
    device->idle_count = 0;
    rex_lists_unlock();
    while (out != NULL) {
        struct rex_launch_context *next = out->next;
        end_context(out);
        out = next;
    }
    rex_blocks_free(device);
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++)
        __atomic_store_n(&ordinals[i], 0, __ATOMIC_RELEASE);
}

/* ---- creation and use ------------------------------------------------------------------------ */

int rex_launch_context_ordinal(int number, int *ordinal)
{
    if (number < 0 || number >= REX_CUDA_DEVICES_MAX) {
        *ordinal = -1;
        return REX_OK;
    }
    int known = __atomic_load_n(&ordinals[number], __ATOMIC_ACQUIRE);
    *ordinal = known - 2;
    if (known != 0)
        return REX_OK;
    int result = rex_device_ordinal("launches by the driver", number, ordinal);
    if (result == REX_OK)
        __atomic_store_n(&ordinals[number], *ordinal + 2, __ATOMIC_RELEASE);
    return result;
}

static int failed(const char *what)
{
    return rex_fail(REX_ECUDA, "%s: %s", what, rex_cuda_why());
}

static struct rex_launch_context *new_context(int ordinal, const char *what)
{
    struct rex_launch_context *context = calloc(1, sizeof *context);
    if (context == NULL) {
        rex_fail_memory(sizeof *context, "a launch by the driver");
        return NULL;
    }
    context->ordinal = ordinal;
    context->device = &rex_devices[ordinal];
    if (rex_context_retain(ordinal, &context->cuda) != 0) {
        free(context);
        failed(what);
        return NULL;
    }
    int entered = rex_context_enter(context->cuda);
    bool made = entered >= 0 &&
                REX_CUDA(cuStreamCreate, &context->stream, REX_CUDA_STREAM_NON_BLOCKING) == 0;
    if (!made)
        failed(what);
    rex_context_leave(entered);
    if (made) {
        rex_loaded_image_on_unload(end_all);
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        rex_lists_lock();
        context->device->idle_most = processors > IDLE_LEAST ? processors : IDLE_LEAST;
        rex_lists_unlock();
        return context;
    }
    context->stream = NULL;
    end_context(context);
    return NULL;
}

int rex_launch_context_take(int number, const char *what, struct rex_launch_context **taken,
                            int *entered)
{
    int ordinal, result = rex_launch_context_ordinal(number, &ordinal);
    *taken = NULL;
    if (result != REX_OK || ordinal < 0)
        return result;
    struct rex_device *device = &rex_devices[ordinal];
    rex_lists_lock();
    struct rex_launch_context *context = device->idle;
    if (context != NULL) {
        device->idle = context->next;
        device->idle_count--;
    }
    rex_lists_unlock();
    if (context == NULL && (context = new_context(ordinal, what)) == NULL)
        return rex_last_error_code();
    *entered = rex_context_enter(context->cuda);
    if (*entered >= 0) {
        *taken = context;
        return REX_OK;
    }
    result = failed(what);
    rex_launch_context_give(context, 0);
    return result;
}

void rex_launch_context_give(struct rex_launch_context *context, int entered)
{
    rex_context_leave(entered);
    rex_lists_lock();
    struct rex_device *device = context->device;
    bool is_kept = device->idle_count < device->idle_most;
    if (is_kept) {
        context->next = device->idle;
        device->idle = context;
        device->idle_count++;
    }
    rex_lists_unlock();
    if (!is_kept)
        end_context(context);
}

int rex_launch_context_make_room(struct rex_launch_context *context, size_t size, const char *what)
{
    if (size <= context->room)
        return REX_OK;
    free_room(context);
    void *staging = NULL;
    size_t room = size <= REX_STAGED_FIRST ? REX_STAGED_FIRST : REX_STAGED_MOST;
    if (REX_CUDA(cuMemHostAlloc, &staging, room, 0) != 0)
        return rex_fail(rex_cuda_memory_error(), "%s: %zu bytes of pinned memory: %s", what, room,
                        rex_cuda_why());
    context->staging = staging;
    if (rex_block_allocate(context->device, room, &context->arena) != 0) {
        context->arena = 0;
        return rex_fail(rex_cuda_memory_error(), "%s: %zu bytes of device memory: %s", what, room,
                        rex_cuda_why());
    }
    context->room = room;
    return REX_OK;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

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
    end_graph(oldest);
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
bool rex_launch_context_graph(struct rex_launch_context *context, const struct rex_packed *packed,
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
    end_graph(graph);
    *graph = class;
    graph->is_refused = true;
    graph->used = context->uses;
    return false;
}
