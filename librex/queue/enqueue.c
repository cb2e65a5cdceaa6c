/*
 * enqueue.c - putting work in queues.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <string.h>

#include "base/error.h"
#include "queue/graph.h"
#include "base/log.h"
#include "queue/queues.h"
#include "memory/rowcheck.h"
#include "omp/rowlog.h"
#include "omp/runtime.h"

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* ---- in the stream --------------------------------------------------------------------------- */

int rex_queue_refuse_lost(const struct rex_queue *queue)
{
    return unlikely(queue->lost[0] != '\0')
               ? rex_fail(REX_ECUDA, "queue \"%s\": device %d is lost: %s", queue->name,
                          queue->gpu.number, queue->lost)
               : REX_OK;
}

int rex_queue_blame(struct rex_queue *queue, int result)
{
    int found = result == REX_ECUDA ? rex_driver.cuStreamQuery(queue->stream) : 0;
    if (found == 0 || found == REX_CUDA_NOT_READY)
        return result;
    rex_cuda_note(found, "cuStreamQuery");
    if (queue->busy)
        return rex_queue_lose(queue);
    /* its own work is done: what failed is another queue's, which will name it */
    rex_queue_keep_loss(queue, rex_cuda_why());
    return result;
}

int rex_queue_settle(struct rex_queue *queue)
{
    return unlikely(queue->gpu.flags & REX_QUEUE_STEPWISE) ? rex_queue_await(queue) : REX_OK;
}

void rex_queue_note_graph(struct rex_queue *queue, const struct rex_graph *graph)
{
    queue->busy = true;
    queue->serial++;
    rex_spans_use(&queue->gpu.spans, &graph->gpu.spans);
    rex_note_all(&queue->noted, &graph->noted);
}

static int put_in_stream(struct rex_queue *queue, struct rex_work *work)
{
    struct rex_queue_kernel *kernel = NULL;
    if (unlikely(rex_queue_refuse_lost(queue) != REX_OK))
        return REX_ECUDA;
    int entered = rex_context_enter(queue->gpu.context);
    if (unlikely(entered < 0))
        return rex_fail(REX_ECUDA, "queue \"%s\": %s", queue->name, rex_cuda_why());
    int result = queue->issue(&queue->gpu, queue->stream, work, &kernel);
    if (unlikely(result == REX_ECUDA))
        result = rex_queue_blame(queue, result);
    rex_context_leave(entered);
    if (unlikely(result != REX_OK))
        return result;
    queue->busy = true;
    queue->serial++;
    if (kernel != NULL)
        rex_note(&queue->noted, kernel->name, kernel->image->registration);
    return rex_queue_settle(queue);
}

int rex_queue_perform(struct rex_queue *queue, const struct rex_work *work)
{
    return rex_work_do(queue->gpu.number, work);
}

int rex_queue_put(struct rex_queue *queue, struct rex_work *work)
{
    if (unlikely(queue->recording != NULL))
        return rex_graph_add(queue->recording, work, queue->lane);
    return unlikely(queue->waits) ? queue->perform(queue, work) : put_in_stream(queue, work);
}

static int enter_and_put(struct rex_queue *queue, struct rex_work *work, const char *call)
{
    int result = rex_queue_enter(queue, call);
    if (unlikely(result != REX_OK))
        return result;
    result = rex_queue_put(queue, work);
    rex_unlock(&queue->lock);
    return result;
}

/* ---- from outside ---------------------------------------------------------------------------- */

int rex_module_queue_launch(struct rex_module *module, struct rex_queue *queue,
                            const struct rex_kernel_launch *launch, const struct rex_map *map)
{
    static const struct rex_map nothing;
    if (unlikely(launch == NULL || queue == NULL))
        return rex_fail(REX_EINVAL, "rex_queue_launch: the %s is NULL",
                        launch == NULL ? "launch" : "queue");
    if (unlikely(launch->device != -1 && launch->device != queue->gpu.number))
        return rex_fail(
            REX_EDEVICE,
            "rex_queue_launch: a launch on device %lld, and queue \"%s\" is of device %d",
            (long long)launch->device, queue->name, queue->gpu.number);
    int result = rex_module_register(module);
    if (unlikely(result != REX_OK))
        return result;
    struct rex_work work = {.kind = REX_WORK_LAUNCH,
                            .launch = {module, *launch, map != NULL ? *map : nothing}};
    return enter_and_put(queue, &work, "rex_queue_launch");
}

static int put_copy(struct rex_queue *queue, enum rex_work_kind kind, void *host, void *device,
                    size_t size, const char *call)
{
    struct rex_work work = {.kind = kind, .copy = {host, device, size}};
    if (size > 0 && (host == NULL || device == NULL))
        return rex_fail(REX_EINVAL, "%s: the %s memory is NULL", call,
                        host == NULL ? "host's" : "device's");
    return size > 0 || queue == NULL ? enter_and_put(queue, &work, call) : REX_OK;
}

int rex_queue_copy_to(struct rex_queue *queue, void *to, const void *from, size_t size)
{
    return put_copy(queue, REX_WORK_COPY_TO, (void *)(uintptr_t)from, to, size,
                    "rex_queue_copy_to");
}

int rex_queue_copy_from(struct rex_queue *queue, void *to, const void *from, size_t size)
{
    return put_copy(queue, REX_WORK_COPY_FROM, to, (void *)(uintptr_t)from, size,
                    "rex_queue_copy_from");
}

int rex_queue_fill(struct rex_queue *queue, void *to, const void *pattern, size_t pattern_size,
                   size_t size)
{
    struct rex_work work = {.kind = REX_WORK_FILL,
                            .fill = {.to = to, .width = pattern_size, .size = size}};
    if (to == NULL || pattern == NULL)
        return rex_fail(REX_EINVAL, "rex_queue_fill: %s is NULL",
                        to == NULL ? "the memory" : "the pattern");
    if (pattern_size != 1 && pattern_size != 2 && pattern_size != 4)
        return rex_fail(REX_EINVAL, "rex_queue_fill: a pattern of %zu bytes; there are 1, 2 and 4",
                        pattern_size);
    if (size % pattern_size != 0 || (uintptr_t)to % pattern_size != 0)
        return rex_fail(
            REX_EINVAL,
            "rex_queue_fill: %zu bytes at %p are no whole number of patterns of %zu bytes", size,
            to, pattern_size);
    memcpy(&work.fill.value, pattern, pattern_size);
    return enter_and_put(queue, &work, "rex_queue_fill");
}

int rex_queue_call(struct rex_queue *queue, void (*function)(void *argument), void *argument)
{
    struct rex_work work = {.kind = REX_WORK_CALL, .call = {function, argument}};
    if (function == NULL)
        return rex_fail(REX_EINVAL, "rex_queue_call: the function is NULL");
    return enter_and_put(queue, &work, "rex_queue_call");
}

/* ---- updates --------------------------------------------------------------------------------- */

static int is_copied(const struct rex_map *map, int32_t row)
{
    return (map->types[row] & REX_TYPE_TOFROM) != 0 && map->sizes[row] > 0;
}

static int check_update(const struct rex_queue *queue, const struct rex_map *map)
{
    int result = map != NULL ? rex_check_rows(map, REX_FOR_UPDATE, "queue update")
                             : rex_fail(REX_EINVAL, "rex_queue_update: the map is NULL");
    bool nowhere =
        queue->waits && (rex_runtime_disabled() || queue->gpu.number == rex_device_count());
    for (int32_t i = 0; result == REX_OK && !nowhere && i < map->count; i++)
        if (is_copied(map, i) &&
            rex_spans_find((struct rex_spans *)(uintptr_t)&queue->gpu.spans, map->begin[i],
                           (size_t)map->sizes[i], queue->gpu.number,
                           rex_spans_generation(queue->gpu.remember)) == 0)
            result = rex_fail(
                REX_EABSENT,
                "queue update: map row %d, %lld bytes at %p, is not mapped whole on device %d", i,
                (long long)map->sizes[i], map->begin[i], queue->gpu.number);
    return result;
}

static int put_update(struct rex_queue *queue, const struct rex_map *map, int64_t direction)
{
    int result = REX_OK;
    for (int32_t i = 0; result == REX_OK && i < map->count; i++) {
        struct rex_work work = {.kind = direction == REX_TYPE_TO ? REX_WORK_COPY_TO
                                                                 : REX_WORK_COPY_FROM,
                                .copy = {map->begin[i], NULL, (size_t)map->sizes[i]}};
        if (is_copied(map, i) && (map->types[i] & direction))
            result = rex_queue_put(queue, &work);
    }
    return result;
}

int rex_queue_update(struct rex_queue *queue, const struct rex_map *map)
{
    int result = rex_queue_enter(queue, "rex_queue_update");
    if (result != REX_OK)
        return result;
    result = check_update(queue, map);
    if (result == REX_OK && rex_rows_wanted())
        rex_rows_log("queue update", queue->gpu.number,
                     &(struct __tgt_kernel_arguments){.NumArgs = (uint32_t)map->count,
                                                      .ArgsBase = map->base,
                                                      .Args = map->begin,
                                                      .ArgSizes = map->sizes,
                                                      .ArgTypes = map->types});
    if (result == REX_OK)
        result = put_update(queue, map, REX_TYPE_TO);
    if (result == REX_OK)
        result = put_update(queue, map, REX_TYPE_FROM);
    rex_unlock(&queue->lock);
    return result;
}

/* ---- globals --------------------------------------------------------------------------------- */

static void *global_address(struct rex_registration *registration, int64_t position,
                            struct rex_queue *queue, const void *variable)
{
    if (queue->waits)
        return rex_device_address(variable, queue->gpu.number);
    int entered = rex_context_enter(queue->gpu.context);
    void *address = entered >= 0 ? rex_queue_global_address(registration, position,
                                                            queue->gpu.ordinal, queue->gpu.context)
                                 : NULL;
    rex_context_leave(entered);
    return address;
}

void *rex_module_queue_global(struct rex_module *module, struct rex_queue *queue,
                              const void *variable)
{
    if (rex_module_register(module) != REX_OK ||
        rex_queue_enter(queue, "rex_queue_global") != REX_OK)
        return NULL;
    struct rex_registration *registration = rex_registration_of(module);
    int64_t position = registration != NULL ? rex_table_find(&registration->table, variable) : -1;
    void *address = NULL;
    if (position < 0 || registration->table.entries[position].size == 0)
        rex_fail(REX_EKEY, "rex_queue_global: %p is no global of the module", variable);
    else if ((address = global_address(registration, position, queue, variable)) == NULL &&
             queue->waits)
        rex_fail(REX_EABSENT, "rex_queue_global: global \"%s\" is not on device %d yet",
                 registration->table.entries[position].name, queue->gpu.number);
    rex_unlock(&queue->lock);
    return address;
}
