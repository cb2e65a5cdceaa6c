/*
 * launchcontext.c - launch contexts: the resources of a launch by the driver, or of a thread that
 * copies.
 *
 * A thread that launches or copies takes an idle launch context or makes a new one. The maximum
 * number of idle contexts of a GPU is the number of processors of the machine, but at least 64 and
 * at most 256.
 *
 * All launch contexts end before an image is unloaded, because their graphs refer to the image's
 * kernels. They end, too, when librex no longer keeps primary contexts (rex_context_unhold()). At
 * these times no launch is in progress. A thread may still copy; its launch context ends when the
 * thread gives it back.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/launchcontext.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/error.h"
#include "cuda/context.h"
#include "cuda/deferred.h"

#define IDLE_LEAST 64

/* Maximum number of idle contexts on each GPU; 0 before the first context is made. Atomic. */
static size_t idle_most;

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
    free(graph->values);
    memset(graph, 0, sizeof *graph);
}

/* Called before the staging memory or the arena is freed, because graphs refer to them. */
static void end_launch_graphs(struct rex_launch_context *context)
{
    for (size_t i = 0; i < REX_LAUNCH_GRAPHS; i++)
        rex_launch_graph_end(&context->graph[i]);
}

static void end_launch_context(struct rex_launch_context *context)
{
    /* The calls below may work even if rex_context_enter() fails. */
    int entered = rex_context_enter(context->cuda);
    REX_ASSERT(context->arena == 0 || context->staging_room >= context->room);
    end_launch_graphs(context);
    /* cuMemFree and cuMemFreeHost wait for commands that still use the memory. */
    if (context->arena != 0)
        REX_CUDA(cuMemFree, context->arena);
    if (context->staging != NULL)
        REX_CUDA(cuMemFreeHost, context->staging);
    for (size_t i = 0; i < 2; i++)
        if (context->event[i] != NULL)
            REX_CUDA(cuEventDestroy, context->event[i]);
    if (context->stream != NULL)
        REX_CUDA(cuStreamDestroy, context->stream);
    rex_context_leave(entered);
    rex_context_drop(context->ordinal);
    rex_arguments_free(&context->arguments);
    free(context->rows);
    free(context);
}

/* ---- idle contexts --------------------------------------------------------------------------- */

/*
 * Takes an idle context out of the array `idle`. One atomic operation empties or fills an element
 * of `idle`, so a context has one owner at any time.
 *
 * `ends` of a device is the number of times that all its contexts were ended, and each context has
 * a copy of the number. Suppose that thread A gives a context back while thread B ends all
 * contexts. A stores the context in `idle`, and then reads `ends`. B increases `ends`, and then
 * empties `idle`. These operations have one total order. So A sees that the copy is outdated, or B
 * finds the context. The context ends in both cases.
 */
static struct rex_launch_context *take_idle_context(struct rex_device *device)
{
    struct rex_launch_context *context = NULL, **idle = device->idle;
    size_t most = __atomic_load_n(&idle_most, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < most && context == NULL; i++)
        if (__atomic_load_n(&idle[i], __ATOMIC_SEQ_CST) != NULL)
            context = __atomic_exchange_n(&idle[i], NULL, __ATOMIC_SEQ_CST);
    return context;
}

static void end_idle_contexts(struct rex_device *device)
{
    struct rex_launch_context *context;
    while ((context = take_idle_context(device)) != NULL)
        end_launch_context(context);
}

void rex_launch_contexts_end(int ordinal)
{
    __atomic_fetch_add(&rex_devices[ordinal].ends, 1, __ATOMIC_SEQ_CST);
    end_idle_contexts(&rex_devices[ordinal]);
}

void rex_context_unhold(void)
{
    bool is_last = rex_context_user_ends();
    if (is_last)
        rex_deferred_end();
    for (int i = 0; is_last && i < rex_cuda_devices(); i++)
        rex_launch_contexts_end(i);
}

/* ---- creation and use ------------------------------------------------------------------------ */

static int fail_in_context(const char *what)
{
    if (what == NULL)
        return REX_ECUDA;
    return rex_fail(REX_ECUDA, "%.*s: %s", REX_KERNEL_NAME(what), rex_cuda_why());
}

static struct rex_launch_context *new_launch_context(int ordinal, const char *what)
{
    struct rex_launch_context *context = calloc(1, sizeof *context);
    if (context == NULL) {
        rex_cuda_note(REX_CUDA_OUT_OF_MEMORY, "malloc");
        if (what != NULL)
            rex_fail_memory(sizeof *context, "a launch by the driver");
        return NULL;
    }
    context->ordinal = ordinal;
    context->device = &rex_devices[ordinal];
    context->ends = __atomic_load_n(&context->device->ends, __ATOMIC_SEQ_CST);
    /*
     * If librex no longer keeps contexts, make the context's copy of `ends` outdated, so that
     * rex_launch_context_give() ends the context. `ends` was read before this check. If it were
     * read after the check, the last rex_context_unhold() could increase `ends` in between. The
     * context would have the new number, and would stay in `idle`.
     */
    if (!rex_contexts_are_kept())
        context->ends--;
    if (rex_context_retain(ordinal, &context->cuda) != 0) {
        free(context);
        fail_in_context(what);
        return NULL;
    }
    int entered = rex_context_enter(context->cuda);
    if (entered < 0 ||
        REX_CUDA(cuStreamCreate, &context->stream, REX_CUDA_STREAM_NON_BLOCKING) != 0) {
        fail_in_context(what);
        rex_context_leave(entered);
        context->stream = NULL; /* the failed call may have written a value */
        end_launch_context(context);
        return NULL;
    }
    rex_context_leave(entered);
    /*
     * Set `idle_most` only once. A smaller maximum would leave contexts in elements of `idle` that
     * no thread searches.
     */
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t unset = 0, most = processors < IDLE_LEAST      ? IDLE_LEAST
                             : processors > REX_IDLE_MOST ? REX_IDLE_MOST
                                                          : (size_t)processors;
    __atomic_compare_exchange_n(&idle_most, &unset, most, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    return context;
}

int rex_launch_context_take(int ordinal, const char *what, struct rex_launch_context **taken,
                            int *entered)
{
    struct rex_device *device = &rex_devices[ordinal];
    struct rex_launch_context *context;
    *taken = NULL;
    /*
     * If the context's copy of `ends` is outdated, another thread ended all contexts while this
     * context was given back. End this context now.
     */
    while ((context = take_idle_context(device)) != NULL &&
           context->ends != __atomic_load_n(&device->ends, __ATOMIC_SEQ_CST))
        end_launch_context(context);
    if (context == NULL) {
        context = new_launch_context(ordinal, what);
        if (context == NULL)
            return what == NULL ? REX_ECUDA : rex_last_error_code();
    }
    *entered = rex_context_enter(context->cuda);
    if (*entered < 0) {
        int result = fail_in_context(what);
        rex_launch_context_give(context, 0);
        return result;
    }
    REX_ASSERT(context->ordinal == ordinal && context->device == device);
    REX_ASSERT(!context->is_broken);
    *taken = context;
    return REX_OK;
}

void rex_launch_context_give(struct rex_launch_context *context, int entered)
{
    struct rex_device *device = context->device;
    unsigned ends = context->ends;
    size_t most = __atomic_load_n(&idle_most, __ATOMIC_ACQUIRE), place = context->place;
    REX_ASSERT(most >= IDLE_LEAST && most <= REX_IDLE_MOST && place < most);
    rex_context_leave(entered);
    /*
     * Try first the element of `idle` that the context had before. A program with one thread then
     * takes the same context again, with the graphs of earlier launches.
     */
    for (size_t i = 0; i < most && !context->is_broken; i++) {
        struct rex_launch_context *none = NULL;
        context->place = place;
        if (__atomic_compare_exchange_n(&device->idle[place], &none, context, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            if (ends != __atomic_load_n(&device->ends, __ATOMIC_SEQ_CST))
                end_idle_contexts(device);
            return;
        }
        place = place + 1 < most ? place + 1 : 0;
    }
    end_launch_context(context);
}

/* ---- memory ---------------------------------------------------------------------------------- */

bool rex_launch_context_make_staging(struct rex_launch_context *context, size_t size)
{
    size_t room = size <= REX_STAGED_FIRST ? REX_STAGED_FIRST : REX_STAGED_MOST;
    void *staging = NULL;
    REX_ASSERT(size <= REX_STAGED_MOST);
    if (size <= context->staging_room)
        return true;
    if (REX_CUDA(cuMemHostAlloc, &staging, room, 0) != 0)
        return false;
    end_launch_graphs(context);
    if (context->staging != NULL)
        REX_CUDA(cuMemFreeHost, context->staging);
    context->staging = staging;
    context->staging_room = room;
    return true;
}

int rex_launch_context_make_room(struct rex_launch_context *context, size_t size, const char *what)
{
    size_t room = size <= REX_STAGED_FIRST ? REX_STAGED_FIRST : REX_STAGED_MOST;
    uint64_t arena = 0;
    if (size <= context->room)
        return REX_OK;
    if (!rex_launch_context_make_staging(context, size))
        return rex_fail(rex_cuda_memory_error(),
                        "%.*s: %zu bytes of pinned memory cannot be allocated: %s",
                        REX_KERNEL_NAME(what), room, rex_cuda_why());
    if (rex_block_allocate(context->device, room, &arena) != 0)
        return rex_fail(rex_cuda_memory_error(),
                        "%.*s: %zu bytes of device memory cannot be allocated: %s",
                        REX_KERNEL_NAME(what), room, rex_cuda_why());
    end_launch_graphs(context);
    if (context->arena != 0)
        REX_CUDA(cuMemFree, context->arena);
    context->arena = arena;
    context->room = room;
    REX_ASSERT(size <= room && room <= context->staging_room);
    return REX_OK;
}

bool rex_launch_context_make_chunks(struct rex_launch_context *context)
{
    if (!rex_launch_context_make_staging(context, REX_STAGED_MOST))
        return false;
    for (size_t i = 0; i < 2; i++) {
        void **event = &context->event[i];
        if (*event == NULL &&
            !rex_cuda_has_made(REX_CUDA(cuEventCreate, event, REX_CUDA_EVENT_UNTIMED), event))
            return false;
    }
    return true;
}
