/*
 * copylane.c - what a thread that copies has of the driver: pinned memory, and on each GPU a
 * stream.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/copylane.h"

#include "cuda/context.h"

#define PORTABLE 0x1             /* CU_MEMHOSTALLOC_PORTABLE: pinned for every context */
#define EVENT_DISABLE_TIMING 0x2 /* CU_EVENT_DISABLE_TIMING */

/* Whether the driver, which returned RESULT, has made something: what it leaves else is nothing. */
static bool is_made(int result, void **made)
{
    if (result != 0)
        *made = NULL;
    return result == 0;
}

static bool make_event(void **event)
{
    return is_made(REX_CUDA(cuEventCreate, event, EVENT_DISABLE_TIMING), event);
}

static bool make_route(struct rex_copy_route *route)
{
    return is_made(REX_CUDA(cuStreamCreate, &route->stream, REX_CUDA_STREAM_NON_BLOCKING),
                   &route->stream) &&
           make_event(&route->event[0]) && make_event(&route->event[1]);
}

/* What is in the stream is done all the same. */
static void unmake_route(struct rex_copy_route *route)
{
    for (size_t i = 0; i < 2; i++)
        if (route->event[i] != NULL)
            rex_driver.cuEventDestroy(route->event[i]);
    if (route->stream != NULL)
        rex_driver.cuStreamDestroy(route->stream);
    route->stream = route->event[0] = route->event[1] = NULL;
}

static bool make_chunk(void **chunk)
{
    return *chunk != NULL ||
           is_made(REX_CUDA(cuMemHostAlloc, chunk, REX_COPY_CHUNK, PORTABLE), chunk);
}

/* The driver waits for what still uses them. */
static void free_chunks(struct rex_copy_lane *lane)
{
    for (size_t i = 0; i < 2; i++)
        if (lane->chunk[i] != NULL)
            rex_driver.cuMemFreeHost(lane->chunk[i]);
    lane->chunk[0] = lane->chunk[1] = NULL;
}

bool rex_copy_lane_enter(struct rex_copy_lane *lane, int ordinal, int *entered)
{
    struct rex_copy_route *route = &lane->route[ordinal];
    *entered = -1;
    if (route->context == NULL &&
        !is_made(rex_context_retain(ordinal, &route->context), &route->context))
        return false;
    *entered = rex_context_enter(route->context);
    if (*entered < 0)
        return false;
    if (route->stream == NULL && !make_route(route)) {
        unmake_route(route);
        return false;
    }
    return make_chunk(&lane->chunk[0]) && make_chunk(&lane->chunk[1]);
}

void rex_copy_lane_discard(struct rex_copy_lane *lane, int ordinal)
{
    unmake_route(&lane->route[ordinal]);
    free_chunks(lane);
}

void rex_copy_lane_close(struct rex_copy_lane *lane)
{
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++) {
        struct rex_copy_route *route = &lane->route[i];
        if (route->context == NULL)
            continue;
        int entered = rex_context_enter(route->context); /* where it fails, the calls may not */
        rex_copy_lane_discard(lane, i);
        rex_context_leave(entered);
        rex_context_drop(i);
        route->context = NULL;
    }
}
