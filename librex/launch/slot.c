/*
 * slot.c - slots: the resources of launches by the driver, each for one launch at a time.
 *
 * A thread that launches takes an idle slot or makes one. At most 64 idle slots are kept on each
 * GPU, or one for each processor if these are more. Before an image is unloaded all are ended,
 * because graphs refer to its kernels and the context may end with it. No launch is at work then.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/slot.h"

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

void rex_slot_graph_end(struct rex_slot_graph *graph)
{
    if (graph->executable != NULL)
        REX_CUDA(cuGraphExecDestroy, graph->executable);
    if (graph->graph != NULL)
        REX_CUDA(cuGraphDestroy, graph->graph);
    memset(graph, 0, sizeof *graph);
}

static void end_graphs(struct rex_slot *slot)
{
    for (size_t i = 0; i < REX_SLOT_GRAPHS; i++)
        rex_slot_graph_end(&slot->graph[i]);
}

static void free_room(struct rex_slot *slot)
{
    end_graphs(slot);
    if (slot->arena != 0)
        REX_CUDA(cuMemFree, slot->arena);
    if (slot->staging != NULL)
        REX_CUDA(cuMemFreeHost, slot->staging);
    slot->arena = 0;
    slot->staging = NULL;
    slot->room = 0;
}

static void end_slot(struct rex_slot *slot)
{
    int entered = rex_context_enter(slot->context); /* if it fails, the calls may still work */
    free_room(slot);
    if (slot->stream != NULL)
        REX_CUDA(cuStreamDestroy, slot->stream);
    rex_context_leave(entered);
    rex_context_drop(slot->ordinal);
    rex_arguments_free(&slot->arguments);
    free(slot->rows);
    free(slot);
}

/* Called when a registration ends; the context of GPU ORDINAL is current. */
static void end_all(int ordinal)
{
    struct rex_device *device = &rex_devices[ordinal];
    rex_lists_lock();
    struct rex_slot *out = device->idle;
    device->idle = NULL;
    device->idle_count = 0;
    rex_lists_unlock();
    while (out != NULL) {
        struct rex_slot *next = out->next;
        end_slot(out);
        out = next;
    }
    rex_blocks_free(device);
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++)
        __atomic_store_n(&ordinals[i], 0, __ATOMIC_RELEASE);
}

/* ---- creation and use ------------------------------------------------------------------------ */

int rex_slot_ordinal(int number, int *ordinal)
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

static struct rex_slot *new_slot(int ordinal, const char *what)
{
    struct rex_slot *slot = calloc(1, sizeof *slot);
    if (slot == NULL) {
        rex_fail_memory(sizeof *slot, "a launch by the driver");
        return NULL;
    }
    slot->ordinal = ordinal;
    slot->device = &rex_devices[ordinal];
    if (rex_context_retain(ordinal, &slot->context) != 0) {
        free(slot);
        failed(what);
        return NULL;
    }
    int entered = rex_context_enter(slot->context);
    bool made =
        entered >= 0 && REX_CUDA(cuStreamCreate, &slot->stream, REX_CUDA_STREAM_NON_BLOCKING) == 0;
    if (!made)
        failed(what);
    rex_context_leave(entered);
    if (made) {
        rex_loaded_image_on_unload(end_all);
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        rex_lists_lock();
        slot->device->idle_most = processors > IDLE_LEAST ? processors : IDLE_LEAST;
        rex_lists_unlock();
        return slot;
    }
    slot->stream = NULL;
    end_slot(slot);
    return NULL;
}

static struct rex_slot *take_idle(int ordinal)
{
    rex_lists_lock();
    struct rex_device *device = &rex_devices[ordinal];
    struct rex_slot *slot = device->idle;
    if (slot != NULL) {
        device->idle = slot->next;
        device->idle_count--;
    }
    rex_lists_unlock();
    return slot;
}

struct rex_slot *rex_slot_take(int ordinal, const char *what, int *entered)
{
    struct rex_slot *slot = take_idle(ordinal);
    if (slot == NULL && (slot = new_slot(ordinal, what)) == NULL)
        return NULL;
    *entered = rex_context_enter(slot->context);
    if (*entered >= 0)
        return slot;
    failed(what);
    rex_slot_give(slot, 0);
    return NULL;
}

void rex_slot_give(struct rex_slot *slot, int entered)
{
    rex_context_leave(entered);
    rex_lists_lock();
    struct rex_device *device = slot->device;
    bool is_kept = device->idle_count < device->idle_most;
    if (is_kept) {
        slot->next = device->idle;
        device->idle = slot;
        device->idle_count++;
    }
    rex_lists_unlock();
    if (!is_kept)
        end_slot(slot);
}

int rex_slot_make_room(struct rex_slot *slot, size_t size, const char *what)
{
    if (size <= slot->room)
        return REX_OK;
    free_room(slot);
    void *staging = NULL;
    size_t room = size <= REX_SLOT_FIRST ? REX_SLOT_FIRST : REX_SLOT_MOST;
    if (REX_CUDA(cuMemHostAlloc, &staging, room, 0) != 0)
        return rex_fail(rex_cuda_memory_error(), "%s: %zu bytes of pinned memory: %s", what, room,
                        rex_cuda_why());
    slot->staging = staging;
    if (rex_block_allocate(slot->device, room, &slot->arena) != 0) {
        slot->arena = 0;
        return rex_fail(rex_cuda_memory_error(), "%s: %zu bytes of device memory: %s", what, room,
                        rex_cuda_why());
    }
    slot->room = room;
    return REX_OK;
}

void *rex_slot_rows(struct rex_slot *slot, size_t size)
{
    if (size > slot->rows_size) {
        void *rows = realloc(slot->rows, size);
        if (rows == NULL) {
            rex_fail_memory(size, "the rows of a launch");
            return NULL;
        }
        slot->rows = rows;
        slot->rows_size = size;
    }
    return slot->rows;
}
