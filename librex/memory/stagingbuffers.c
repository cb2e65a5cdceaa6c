/*
 * stagingbuffers.c - the driver's resources of a copying thread: pinned memory, and a stream on
 * each GPU.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/stagingbuffers.h"

#include "cuda/context.h"

#define PORTABLE 0x1             /* CU_MEMHOSTALLOC_PORTABLE: pinned for every context */
#define EVENT_DISABLE_TIMING 0x2 /* CU_EVENT_DISABLE_TIMING */

static bool make_event(void **event)
{
    return rex_cuda_has_made(REX_CUDA(cuEventCreate, event, EVENT_DISABLE_TIMING), event);
}

static bool make_stream(struct rex_staging_stream *on)
{
    return rex_cuda_has_made(REX_CUDA(cuStreamCreate, &on->stream, REX_CUDA_STREAM_NON_BLOCKING),
                             &on->stream) &&
           make_event(&on->event[0]) && make_event(&on->event[1]);
}

/* The driver still completes the work in the stream. */
static void destroy_stream(struct rex_staging_stream *on)
{
    for (size_t i = 0; i < 2; i++)
        if (on->event[i] != NULL)
            rex_driver.cuEventDestroy(on->event[i]);
    if (on->stream != NULL)
        rex_driver.cuStreamDestroy(on->stream);
    on->stream = on->event[0] = on->event[1] = NULL;
}

static bool make_chunk(void **chunk)
{
    return *chunk != NULL ||
           rex_cuda_has_made(REX_CUDA(cuMemHostAlloc, chunk, REX_STAGING_CHUNK, PORTABLE), chunk);
}

/* The driver waits for work that still uses the chunks. */
static void free_chunks(struct rex_staging_buffers *own)
{
    for (size_t i = 0; i < 2; i++)
        if (own->chunk[i] != NULL)
            rex_driver.cuMemFreeHost(own->chunk[i]);
    own->chunk[0] = own->chunk[1] = NULL;
}

bool rex_staging_buffers_enter(struct rex_staging_buffers *own, int ordinal, int *entered)
{
    struct rex_staging_stream *on = &own->stream[ordinal];
    *entered = -1;
    if (on->context == NULL &&
        !rex_cuda_has_made(rex_context_retain(ordinal, &on->context), &on->context))
        return false;
    *entered = rex_context_enter(on->context);
    if (*entered < 0)
        return false;
    if (on->stream == NULL && !make_stream(on)) {
        destroy_stream(on);
        return false;
    }
    return make_chunk(&own->chunk[0]) && make_chunk(&own->chunk[1]);
}

void rex_staging_buffers_discard(struct rex_staging_buffers *own, int ordinal)
{
    destroy_stream(&own->stream[ordinal]);
    free_chunks(own);
}

void rex_staging_buffers_close(struct rex_staging_buffers *own)
{
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++) {
        struct rex_staging_stream *on = &own->stream[i];
        if (on->context == NULL)
            continue;
        int entered = rex_context_enter(on->context); /* on failure the calls may still work */
        rex_staging_buffers_discard(own, i);
        rex_context_leave(entered);
        rex_context_drop(i);
        on->context = NULL;
    }
}
