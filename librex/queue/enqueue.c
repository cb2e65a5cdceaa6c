/*
 * enqueue.c - puts commands in queues.
 *
 * Implements functions of rex/queue.h. Sets the hook that launch/launch.c calls for a launch in a
 * queue.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "calls/callreport.h"
#include "cuda/context.h"
#include "cuda/deferred.h"
#include "cuda/lost.h"
#include "launch/launch.h"
#include "memory/rowcheck.h"
#include "module/registry.h"
#include "omp/gate.h"
#include "queue/instantiate.h"
#include "queue/queuetrace.h"
#include "rex/interop.h"

int rex_queue_enter(struct rex_queue *queue, const char *call)
{
    if (REX_UNLIKELY(queue == NULL))
        return rex_pooled_check(NULL, call, "queue");
    if (REX_UNLIKELY(queue->pooled.forks != rex_forks() && !queue->immediate)) {
        if (rex_has_ended(queue))
            return rex_pooled_check(queue, call, "queue");
        return rex_fail(REX_EFORK, "%s: queue \"%s\" was made in this process's parent", call,
                        queue->name);
    }
    rex_lock(&queue->lock);
    return REX_OK;
}

int rex_queue_enter_with(struct rex_queue *queue, const char *call)
{
    int result = rex_queue_enter(queue, call);
    if (REX_UNLIKELY(result != REX_OK))
        return result;
    while (REX_UNLIKELY(queue->is_waiting))
        pthread_cond_wait(&queue->put, &queue->lock);
    return REX_OK;
}

int rex_queue_refuse_captured(const struct rex_queue *queue, const char *call)
{
    return rex_fail(REX_EINVAL, "%s: queue \"%s\" is being captured", call, queue->name);
}

/*
 * Makes COMMAND, and later commands of QUEUE, wait for deferred launches on the devices of COMMAND.
 */
static int follow_deferred(struct rex_queue *queue, const struct rex_command *command)
{
    int number = queue->gpu.number, found = rex_deferred_precede(number, queue->stream);
    if (command->kind == REX_COMMAND_COPY_PEER && found == 0)
        found = rex_deferred_precede(rex_command_other(command, number), queue->stream);
    if (found == 0)
        return REX_OK;
    return rex_fail(REX_ECUDA, "queue \"%s\": %s", queue->name, rex_cuda_why());
}

int rex_enqueue(struct rex_queue *queue, const struct rex_command *command)
{
    struct rex_loaded_kernel *kernel = NULL;
    int result = REX_OK;
    if (REX_UNLIKELY(queue->capture != NULL))
        return rex_capture_add(queue, command);
    if (REX_UNLIKELY(queue->immediate)) {
        if (queue->trace != NULL)
            return rex_queue_trace_do(queue, command);
        return rex_command_do(&queue->gpu, command);
    }
    if (REX_UNLIKELY(queue->lost[0] != '\0'))
        return rex_fail(REX_ECUDA, "queue \"%s\": device %d is lost: %s", queue->name,
                        queue->gpu.number, queue->lost);
    int entered = rex_context_enter(queue->gpu.context);
    if (REX_UNLIKELY(entered < 0)) {
        if (command->kind == REX_COMMAND_GRAPH)
            return rex_fail(REX_ECUDA, "rex_graph_launch: %s", rex_cuda_why());
        return rex_fail(REX_ECUDA, "queue \"%s\": %s", queue->name, rex_cuda_why());
    }
    if (REX_UNLIKELY(rex_is_any_deferred()))
        result = follow_deferred(queue, command);
    if (REX_UNLIKELY(command->kind == REX_COMMAND_GRAPH) && result == REX_OK)
        result = rex_graph_refresh(command->graph);
    if (REX_UNLIKELY(result != REX_OK))
        goto leave;
    if (REX_UNLIKELY(queue->trace != NULL))
        result = rex_queue_trace_submit(queue, command, &kernel);
    else
        result = rex_command_submit(&queue->gpu, queue->stream, command, &kernel);
leave:
    if (REX_UNLIKELY(result == REX_ECUDA))
        result = rex_queue_check_lost(queue);
    rex_context_leave(entered);
    if (REX_UNLIKELY(result != REX_OK))
        return result;
    queue->busy = true;
    queue->serial++;
    if (kernel != NULL)
        rex_kernel_list_add(&queue->kernels, kernel->name, kernel->image->registration);
    if (REX_UNLIKELY(command->kind == REX_COMMAND_GRAPH))
        rex_kernel_list_add_all(&queue->kernels, &command->graph->made.kernels);
    return REX_OK;
}

int rex_queue_leave(struct rex_queue *queue, int result)
{
    bool waits = (queue->gpu.flags & REX_QUEUE_BLOCKING) && queue->capture == NULL;
    if (REX_UNLIKELY(waits) && result == REX_OK)
        result = rex_queue_sync_locked(queue);
    rex_unlock(&queue->lock);
    return result;
}

static int enter_and_enqueue(struct rex_queue *queue, const struct rex_command *command,
                             const char *call)
{
    int result = rex_queue_enter_with(queue, call);
    if (REX_UNLIKELY(result != REX_OK))
        return result;
    return rex_queue_leave(queue, rex_enqueue(queue, command));
}

/* ---- launches, copies, fills and calls ------------------------------------------------------- */

static int enqueue_launch(struct rex_module *module, const struct rex_launch_config *launch,
                          const struct rex_map *map)
{
    static const struct rex_map nothing;
    struct rex_queue *queue = launch->queue;
    if (REX_UNLIKELY(launch->device != -1 && launch->device != queue->gpu.number &&
                     !rex_has_ended(queue)))
        return rex_fail(
            REX_EDEVICE,
            "rex_launch: the launch is for device %lld, and queue \"%s\" is of device %d",
            (long long)launch->device, queue->name, queue->gpu.number);
    if (rex_launch_strides(launch)) { /* the grid depends on the device of the queue */
        struct rex_launch_config own = *launch;
        if (!rex_has_ended(queue))
            own.device = queue->gpu.number;
        return rex_launch_grid_stride(module, &own, map);
    }
    int result = rex_module_enter(module, REX_NEED_MODULE, "rex_launch");
    if (REX_UNLIKELY(result != REX_OK))
        return result;
    struct rex_command command = {.kind = REX_COMMAND_LAUNCH,
                                  .launch = {module, *launch, map != NULL ? *map : nothing, NULL}};
    result = enter_and_enqueue(queue, &command, "rex_launch");
    rex_gate_leave();
    return result;
}

__attribute__((constructor(1001))) static void take_launches(void)
{
    rex_launch_in_queue = enqueue_launch;
}

static int enqueue_copy(struct rex_queue *queue, enum rex_command_kind kind, void *host,
                        void *device, size_t size, const char *call)
{
    struct rex_command command = {.kind = kind, .copy = {host, device, size}};
    if (size > 0 && (host == NULL || device == NULL))
        return rex_fail(REX_EINVAL, "%s: the %s memory is NULL", call,
                        host == NULL ? "host's" : "device's");
    if (size == 0)
        return rex_pooled_check(queue, call, "queue");
    return enter_and_enqueue(queue, &command, call);
}

int rex_queue_copy_to(struct rex_queue *queue, void *to, const void *from, size_t size)
{
    return enqueue_copy(queue, REX_COMMAND_COPY_TO, (void *)(uintptr_t)from, to, size,
                        "rex_queue_copy_to");
}

int rex_queue_copy_from(struct rex_queue *queue, void *to, const void *from, size_t size)
{
    return enqueue_copy(queue, REX_COMMAND_COPY_FROM, to, (void *)(uintptr_t)from, size,
                        "rex_queue_copy_from");
}

int rex_queue_copy_peer(struct rex_queue *queue, void *to, int64_t to_device, const void *from,
                        int64_t from_device, size_t size)
{
    struct rex_command command = {.kind = REX_COMMAND_COPY_PEER, .peer = {to, from, size, 0, 0}};
    int *sent_to = &command.peer.to_device, *sent_from = &command.peer.from_device;
    int result = rex_queue_enter_with(queue, "rex_queue_copy_peer");
    if (result != REX_OK)
        return result;
    int number = queue->gpu.number;
    if (size > 0 && (to == NULL || from == NULL)) {
        result = rex_fail(REX_EINVAL, "rex_queue_copy_peer: the %s is NULL",
                          to == NULL ? "destination" : "source");
        goto unlock;
    }
    result = rex_device_resolve(to_device, sent_to);
    if (result != REX_OK)
        goto unlock;
    result = rex_device_resolve(from_device, sent_from);
    if (result != REX_OK)
        goto unlock;
    if (*sent_to != number && *sent_from != number) {
        result = rex_fail(
            REX_EDEVICE,
            "rex_queue_copy_peer: the copy is from device %d to device %d, but queue \"%s\" "
            "is of device %d: use a queue of one of these two devices",
            *sent_from, *sent_to, queue->name, number);
        goto unlock;
    }
    int other = rex_command_other(&command, number);
    result = rex_device_lost(other, "rex_queue_copy_peer");
    if (result != REX_OK || size == 0)
        goto unlock;
    if (other != number) /* device OTHER has unfinished commands of QUEUE from now on */
        queue->reached |= UINT64_C(1) << other % 64;
    result = rex_enqueue(queue, &command);
unlock:
    return rex_queue_leave(queue, result);
}

int rex_queue_fill(struct rex_queue *queue, void *to, const void *pattern, size_t pattern_size,
                   size_t size)
{
    struct rex_command command = {.kind = REX_COMMAND_FILL};
    int result = rex_fill_of(&command.fill, "rex_queue_fill", to, pattern, pattern_size, size);
    if (result != REX_OK)
        return result;
    return enter_and_enqueue(queue, &command, "rex_queue_fill");
}

int rex_queue_host_func(struct rex_queue *queue, void (*function)(void *argument), void *argument)
{
    struct rex_command command = {.kind = REX_COMMAND_CALL, .call = {function, argument}};
    if (function == NULL)
        return rex_fail(REX_EINVAL, "rex_queue_host_func: the function is NULL");
    return enter_and_enqueue(queue, &command, "rex_queue_host_func");
}

/* ---- updates --------------------------------------------------------------------------------- */

static int enqueue_rows(struct rex_queue *queue, const struct rex_map *map, int64_t direction)
{
    for (int32_t i = 0; i < map->count; i++) {
        struct rex_command command = {.kind = direction == REX_MAP_TO ? REX_COMMAND_COPY_TO
                                                                      : REX_COMMAND_COPY_FROM,
                                      .copy = {map->begin[i], NULL, (size_t)map->sizes[i]}};
        if (!(map->types[i] & direction) || map->sizes[i] <= 0)
            continue;
        int result = rex_enqueue(queue, &command);
        if (result != REX_OK)
            return result;
    }
    return REX_OK;
}

int rex_queue_update(struct rex_queue *queue, const struct rex_map *map)
{
    char text[REX_ROW_TEXT];
    int result = rex_queue_enter_with(queue, "rex_queue_update");
    if (result != REX_OK)
        return result;
    struct rex_stream_gpu *gpu = &queue->gpu;
    if (map == NULL) {
        result = rex_fail(REX_EINVAL, "rex_queue_update: the map is NULL");
        goto unlock;
    }
    result = rex_check_rows(map, REX_FOR_UPDATE, "queue update");
    if (result == REX_OK && queue->immediate)
        result = rex_gate_check();
    if (result != REX_OK)
        goto unlock;
    rex_addresses_begin(&gpu->addresses, gpu->remember);
    bool is_nowhere = queue->immediate && rex_is_nowhere(gpu->number);
    for (int32_t i = 0; !is_nowhere && i < map->count; i++)
        if ((map->types[i] & REX_MAP_TOFROM) && map->sizes[i] > 0 &&
            rex_addresses_find(&gpu->addresses, map->begin[i], (size_t)map->sizes[i],
                               gpu->number) == 0) {
            result = rex_fail(
                REX_EABSENT,
                "queue update: map row %d, %lld bytes at %p, is not mapped whole on device %d%s", i,
                (long long)map->sizes[i], map->begin[i], gpu->number, rex_row_text(map, i, text));
            break;
        }
    /*
     * The look-ups above have marked the mappings as used by this command. If the update call is
     * captured or refused, it does not use the mappings now. So remove the marks.
     */
    if (result != REX_OK || queue->capture != NULL)
        rex_addresses_undo(&gpu->addresses);
    if (result != REX_OK)
        goto unlock;
    rex_map_log("queue update", queue->gpu.number, map);
    result = enqueue_rows(queue, map, REX_MAP_TO);
    if (result == REX_OK)
        result = enqueue_rows(queue, map, REX_MAP_FROM);
unlock:
    return rex_queue_leave(queue, result);
}

/* ---- events ---------------------------------------------------------------------------------- */

int rex_event_record(struct rex_event *event, struct rex_queue *queue)
{
    struct rex_command command = {.kind = REX_COMMAND_RECORD, .event = {.event = event}};
    int result = rex_pooled_check(event, "rex_event_record", "event");
    if (result != REX_OK)
        return result;
    return enter_and_enqueue(queue, &command, "rex_event_record");
}

int rex_queue_wait_event(struct rex_queue *queue, struct rex_event *event)
{
    struct rex_command command = {.kind = REX_COMMAND_WAIT, .event = {.event = event}};
    int result = rex_pooled_check(event, "rex_queue_wait_event", "event");
    if (result != REX_OK)
        return result;
    result = rex_queue_enter_with(queue, "rex_queue_wait_event");
    if (result != REX_OK)
        return result;
    bool captured = rex_capture_wait(queue, event, &result);
    if (result == REX_OK && !captured)
        result = rex_enqueue(queue, &command);
    return rex_queue_leave(queue, result);
}
