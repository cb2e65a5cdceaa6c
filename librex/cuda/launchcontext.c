/*
 * launchcontext.c - launch contexts: the resources of launches by the driver, each for one launch
 * at a time.
 *
 * A thread that launches takes an idle context or makes one. At most 64 idle contexts are kept on
 * each GPU, or one for each processor if these are more. Before an image is unloaded all are ended,
 * because graphs refer to its kernels and the GPU's context may end with it. No launch is at work
 * then.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/launchcontext.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cuda/context.h"

#define IDLE_LEAST 64

/* ---- destruction ----------------------------------------------------------------------------- */

void rex_arguments_free(struct rex_arguments *arguments)
{
    free(arguments->address);
    free(arguments->values);
}

void rex_launch_graph_end(struct rex_launch_graph *graph)
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
        rex_launch_graph_end(&context->graph[i]);
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

void rex_launch_contexts_end(int ordinal)
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
}

/* ---- creation and use ------------------------------------------------------------------------ */

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

int rex_launch_context_take(int ordinal, const char *what, struct rex_launch_context **taken,
                            int *entered)
{
    *taken = NULL;
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
    int result = failed(what);
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
