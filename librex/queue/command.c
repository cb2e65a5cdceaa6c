/*
 * command.c - executes commands of queues. On an NVIDIA GPU librex puts a command in a stream of
 * the CUDA driver. On another device libomptarget executes the command at once.
 *
 * The driver copies between two GPUs directly, over NVLink or PCI Express, if one of the two
 * contexts has access to the other. Without access the driver stages the bytes in host memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "calls/callreport.h"
#include "cuda/context.h"
#include "launch/launch.h"
#include "memory/devicememory.h"
#include "memory/makecopy.h"
#include "omp/columns.h"
#include "omp/runtime.h"
#include "present/lookup.h"
#include "present/present.h"
#include "queue/instantiate.h"
#include "rex/interop.h"

/* ---- in a stream ----------------------------------------------------------------------------- */

/* Reports a failed command, which WHAT names. */
static int command_failed(const struct rex_stream_gpu *gpu, const char *what)
{
    if (gpu->queue == NULL)
        return rex_fail(REX_ECUDA, "a graph: %s failed: %s", what, rex_cuda_why());
    return rex_fail(REX_ECUDA, "queue \"%s\": %s failed: %s", gpu->queue, what, rex_cuda_why());
}

/* Reports a failed copy of SIZE bytes. WHAT names the direction of the copy. */
static int copy_failed(const struct rex_stream_gpu *gpu, const char *what, const void *to,
                       const void *from, size_t size)
{
    if (gpu->queue == NULL)
        return rex_fail(REX_ECUDA, "a graph: %s failed, %zu bytes from %p to %p: %s", what, size,
                        from, to, rex_cuda_why());
    return rex_fail(REX_ECUDA, "queue \"%s\": %s failed, %zu bytes from %p to %p: %s", gpu->queue,
                    what, size, from, to, rex_cuda_why());
}

static int fill_failed(const struct rex_stream_gpu *gpu, const struct rex_fill *fill)
{
    if (gpu->queue == NULL)
        return rex_fail(REX_ECUDA, "a graph: a fill failed, %zu bytes at %p: %s", fill->size,
                        fill->to, rex_cuda_why());
    return rex_fail(REX_ECUDA, "queue \"%s\": a fill failed, %zu bytes at %p: %s", gpu->queue,
                    fill->size, fill->to, rex_cuda_why());
}

static int submit_launch(struct rex_stream_gpu *gpu, void *stream,
                         const struct rex_command *command, struct rex_loaded_kernel **kernel)
{
    struct rex_packed packed;
    int result = rex_pack_launch(gpu, command->launch.module, &command->launch.description,
                                 &command->launch.map, &packed);
    if (result != REX_OK)
        return result;
    *kernel = packed.kernel;
    if (REX_UNLIKELY(rex_log_wanted(REX_LOG_DEBUG))) {
        struct __tgt_kernel_arguments packet = rex_packet_of_map(&command->launch.map);
        rex_packet_set_grid(&packet, &packed.grid);
        rex_rows_log(packed.kernel->name, gpu->number, &packet);
    }
    if (rex_packed_put(&packed, &gpu->arguments, stream) != 0)
        return rex_packed_failed(&packed);
    return REX_OK;
}

static int copy_not_mapped(const struct rex_stream_gpu *gpu, const struct rex_command *command)
{
    if (gpu->queue == NULL)
        return rex_fail(REX_EABSENT,
                        "a graph: rex_queue_update: %zu bytes at %p are not mapped whole on "
                        "device %d",
                        command->copy.size, command->copy.host, gpu->number);
    return rex_fail(REX_EABSENT,
                    "queue \"%s\": rex_queue_update: %zu bytes at %p are not mapped whole on "
                    "device %d",
                    gpu->queue, command->copy.size, command->copy.host, gpu->number);
}

/*
 * Puts a copy in STREAM. Marks a device address from the program as used, because the address may
 * lie in mapped memory.
 *
 * The driver would block the caller during a large copy of pageable memory. So threads of librex,
 * which are faster, may make this copy. These threads do not copy in the stream. So if they make
 * the copy, the function waits until the stream is idle, and returns after the copy is complete.
 * The queue is not locked meanwhile.
 */
static int submit_copy(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command)
{
    void *host = command->copy.host;
    size_t size = command->copy.size;
    uint64_t device = (uint64_t)(uintptr_t)command->copy.device;
    bool to_host = command->kind == REX_COMMAND_COPY_FROM;
    rex_addresses_begin(&gpu->addresses, gpu->remember);
    if (device != 0)
        rex_addresses_use_range(&gpu->addresses, device, size);
    else
        device = rex_addresses_find(&gpu->addresses, host, size, gpu->number);
    if (device == 0)
        return copy_not_mapped(gpu, command);
    struct rex_copy copy = {.host = host, .device = device, .size = size, .to_host = to_host};
    if (gpu->waits != NULL)
        gpu->waits(gpu, true);
    int put = rex_copy_put(&copy, stream, gpu->waits != NULL);
    if (gpu->waits != NULL)
        gpu->waits(gpu, false);
    if (put == 0)
        return REX_OK;
    const void *on_device = (const void *)(uintptr_t)device;
    if (to_host)
        return copy_failed(gpu, "a copy from the device", host, on_device, size);
    return copy_failed(gpu, "a copy to the device", on_device, host, size);
}

static int submit_fill(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command)
{
    uint64_t to = (uint64_t)(uintptr_t)command->fill.to;
    rex_addresses_use_range(&gpu->addresses, to, command->fill.size);
    if (rex_fill_put(&command->fill, stream) != 0)
        return fill_failed(gpu, &command->fill);
    return REX_OK;
}

/* ---- copies between device memory of one GPU or of two --------------------------------------- */

/*
 * Requests peer access, once for each stream and GPU. A refusal only makes copies slower.
 * The driver refuses if the GPU has too many peers.
 */
static void ask_for_peer_access(struct rex_stream_gpu *gpu, int ordinal, void *context)
{
    int own = 0, other = 0, can = 0;
    uint64_t bit = UINT64_C(1) << ordinal % 64;
    if (gpu->peers & bit)
        return;
    gpu->peers |= bit;
    int result = 0;
    if (REX_CUDA(cuDeviceGet, &own, gpu->ordinal) != 0 ||
        REX_CUDA(cuDeviceGet, &other, ordinal) != 0 ||
        REX_CUDA(cuDeviceCanAccessPeer, &can, own, other) != 0)
        result = -1;
    else if (can)
        result = rex_driver.cuCtxEnablePeerAccess(context, 0);
    if (result > 0 && result != REX_CUDA_PEER_ACCESS_ALREADY_ENABLED)
        rex_cuda_note(result, "cuCtxEnablePeerAccess");
    bool has_access = can && (result == 0 || result == REX_CUDA_PEER_ACCESS_ALREADY_ENABLED);
    bool has_failed = !has_access && result != 0;
    rex_log(REX_LOG_INFO, "copies between GPU %d and GPU %d go %s%s%s", gpu->ordinal, ordinal,
            has_access ? "directly" : "through the host", has_failed ? ": " : "",
            has_failed ? rex_cuda_why() : "");
}

static int submit_peer_copy(struct rex_stream_gpu *gpu, void *stream,
                            const struct rex_command *command)
{
    uint64_t to = (uint64_t)(uintptr_t)command->peer.to,
             from = (uint64_t)(uintptr_t)command->peer.from;
    size_t size = command->peer.size;
    int result = REX_OK, ordinal = -1, found, number = rex_command_other(command, gpu->number);
    void *other = NULL;
    rex_addresses_use_range(&gpu->addresses, to, size);
    rex_addresses_use_range(&gpu->addresses, from, size);
    if (number == gpu->number) {
        found = REX_CUDA(cuMemcpyDtoDAsync, to, from, size, stream);
        goto put;
    }
    result = rex_device_known_ordinal(number, &ordinal);
    if (result != REX_OK)
        return result;
    if (ordinal < 0)
        return rex_fail(REX_ENODEVICE,
                        "queue \"%s\": a copy between devices: device %d is not an NVIDIA GPU",
                        gpu->queue, number);
    if (rex_context_retain(ordinal, &other) != 0)
        return command_failed(gpu, "a copy between devices");
    ask_for_peer_access(gpu, ordinal, other);
    if (command->peer.from_device == gpu->number)
        found = REX_CUDA(cuMemcpyPeerAsync, to, other, from, gpu->context, size, stream);
    else
        found = REX_CUDA(cuMemcpyPeerAsync, to, gpu->context, from, other, size, stream);
put:
    if (found != 0)
        result =
            copy_failed(gpu, "a copy between devices", command->peer.to, command->peer.from, size);
    if (other != NULL)
        rex_context_drop(ordinal);
    return result;
}

/* ---- every kind in a stream ------------------------------------------------------------------ */

int rex_command_submit(struct rex_stream_gpu *gpu, void *stream, const struct rex_command *command,
                       struct rex_loaded_kernel **kernel)
{
    switch (command->kind) {
    case REX_COMMAND_LAUNCH: return submit_launch(gpu, stream, command, kernel);
    case REX_COMMAND_COPY_TO:
    case REX_COMMAND_COPY_FROM: return submit_copy(gpu, stream, command);
    case REX_COMMAND_COPY_PEER: return submit_peer_copy(gpu, stream, command);
    case REX_COMMAND_FILL: return submit_fill(gpu, stream, command);
    case REX_COMMAND_RECORD: return rex_event_submit(command->event.event, gpu, stream);
    case REX_COMMAND_WAIT: return rex_event_wait(command->event.event, false, stream);
    case REX_COMMAND_GRAPH:
        if (REX_CUDA(cuGraphLaunch, command->graph->made.executable, stream) != 0)
            return rex_fail(REX_ECUDA,
                            "queue \"%s\": a graph could not be launched (launches in the graph: "
                            "%zu): %s",
                            gpu->queue, command->graph->launches, rex_cuda_why());
        rex_addresses_use_all(&gpu->addresses, &command->graph->gpu.addresses);
        return REX_OK;
    default:
        if (REX_CUDA(cuLaunchHostFunc, stream, command->call.function, command->call.argument) != 0)
            return command_failed(gpu, "rex_queue_host_func");
        return REX_OK;
    }
}

/* ---- at once --------------------------------------------------------------------------------- */

bool rex_is_nowhere(int number)
{
    /* At the end of the process rex_device_count() is 0, although device 0 is not the host. */
    return rex_runtime_disabled() || (number > 0 && number == rex_device_count());
}

static int check_copy_at_once(const struct rex_stream_gpu *gpu, const struct rex_command *command)
{
    int number = gpu->number;
    if (command->copy.device != NULL || rex_is_nowhere(number))
        return REX_OK;
    if (rex_memory_presence(command->copy.host, command->copy.size, number) != REX_PRESENT_WHOLE)
        return copy_not_mapped(gpu, command);
    return REX_OK;
}

static int copy_at_once(const struct rex_stream_gpu *gpu, const struct rex_command *command)
{
    int number = gpu->number;
    void *host = command->copy.host, *device = command->copy.device;
    bool is_update = device == NULL;
    if (is_update && rex_is_nowhere(number)) /* on the host, an update call copies nothing */
        return REX_OK;
    int result = check_copy_at_once(gpu, command);
    if (result != REX_OK)
        return result;
    if (is_update)
        device = rex_mapped_ptr(host, number);
    if (command->kind == REX_COMMAND_COPY_TO)
        return rex_copy_between_host(device, 0, host, command->copy.size, number,
                                     is_update ? "rex_queue_update" : "rex_queue_copy_to");
    return rex_copy_between_host(host, 1, device, command->copy.size, number,
                                 is_update ? "rex_queue_update" : "rex_queue_copy_from");
}

REX_NO_STACK_GUARD
int rex_command_do(const struct rex_stream_gpu *gpu, const struct rex_command *command)
{
    int number = gpu->number;
    /* used only for REX_COMMAND_RECORD and REX_COMMAND_WAIT */
    struct rex_event *event = command->event.event;
    struct rex_launch_config launch;
    switch (command->kind) {
    case REX_COMMAND_LAUNCH:
        launch = command->launch.description;
        launch.device = number;
        return rex_launch_map(command->launch.module, &launch, &command->launch.map, REX_FOR_QUEUE);
    case REX_COMMAND_COPY_TO:
    case REX_COMMAND_COPY_FROM: return copy_at_once(gpu, command);
    case REX_COMMAND_COPY_PEER:
        return rex_copy_between_devices(command->peer.to, command->peer.to_device,
                                        command->peer.from, command->peer.from_device,
                                        command->peer.size, "rex_queue_copy_peer");
    case REX_COMMAND_FILL: return rex_fill_now(&command->fill, number, "rex_queue_fill");
    case REX_COMMAND_CALL: command->call.function(command->call.argument); return REX_OK;
    case REX_COMMAND_RECORD:
        if (event == NULL)
            return REX_OK;
        /*
         * The device executes each command at once, so all earlier commands are complete. The event
         * stores the current time.
         */
        rex_lock(&event->lock);
        clock_gettime(CLOCK_MONOTONIC, &event->at);
        event->state = REX_EVENT_TIMED;
        event->number = number;
        rex_unlock(&event->lock);
        return REX_OK;
    default: /* a wait */
        if (event == NULL)
            return REX_OK;
        return rex_event_wait(event, true, NULL);
    }
}

/* ---- commands of a graph --------------------------------------------------------------------- */

int rex_command_check(struct rex_graph *graph, const struct rex_command *command)
{
    struct rex_stream_gpu *gpu = &graph->gpu;
    struct rex_packed packed;
    bool immediate = graph->immediate;
    bool is_launch = command->kind == REX_COMMAND_LAUNCH;
    if (immediate && is_launch) {
        struct rex_launch_config launch = command->launch.description;
        launch.device = gpu->number;
        return rex_launch_check(command->launch.module, &launch, &command->launch.map,
                                REX_FOR_QUEUE);
    }
    if (immediate &&
        (command->kind == REX_COMMAND_COPY_TO || command->kind == REX_COMMAND_COPY_FROM))
        return check_copy_at_once(gpu, command);
    if (immediate || (!is_launch && command->kind != REX_COMMAND_COPY_PEER))
        return REX_OK;
    if (is_launch) {
        int entered = rex_context_enter(gpu->context);
        if (entered < 0)
            return rex_fail(REX_ECUDA,
                            "a launch in a graph of queue \"%s\": the context of GPU %d cannot be "
                            "used: %s",
                            graph->name, gpu->ordinal, rex_cuda_why());
        int result = rex_pack_launch(gpu, command->launch.module, &command->launch.description,
                                     &command->launch.map, &packed);
        rex_context_leave(entered);
        return result;
    }
    int other = rex_command_other(command, gpu->number);
    if (other != gpu->number)
        return rex_fail(REX_EUNSUPPORTED,
                        "rex_queue_copy_peer: a graph uses device %d only, and the copy also "
                        "uses device %d",
                        gpu->number, other);
    return REX_OK;
}

/* If ROW of MAP is a value wider than a pointer, returns the value's size, otherwise 0. */
static size_t wide_value_size(const struct rex_map *map, size_t row)
{
    bool is_wide = (map->types[row] & REX_MAP_LITERAL) && map->sizes[row] > (int64_t)sizeof(void *);
    return is_wide ? (size_t)map->sizes[row] : 0;
}

int rex_command_own_map(struct rex_command *command)
{
    struct rex_map *map = &command->launch.map;
    size_t rows = (size_t)map->count, columns = rows * (2 * sizeof(void *) + 2 * sizeof(int64_t));
    size_t size = columns + 1;
    for (size_t i = 0; i < rows; i++)
        size += wide_value_size(map, i);
    char *memory = malloc(size);
    if (memory == NULL)
        return rex_fail_memory(size, "a launch in a graph");
    char *values = memory + columns;
    struct rex_map own = {
        map->count, (void **)(void *)memory, (void **)(void *)memory + rows, NULL, NULL, NULL,
        NULL};
    own.sizes = (int64_t *)(void *)(own.begin + rows);
    own.types = own.sizes + rows;
    for (size_t i = 0; i < rows; i++) {
        size_t value = wide_value_size(map, i);
        own.base[i] = map->base[i];
        own.begin[i] = map->begin[i];
        own.sizes[i] = map->sizes[i];
        own.types[i] = map->types[i];
        if (value > 0)
            own.base[i] = own.begin[i] = memcpy(values, map->begin[i], value);
        values += value;
    }
    *map = own;
    command->launch.memory = memory;
    return REX_OK;
}
