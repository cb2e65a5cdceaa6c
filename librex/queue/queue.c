/*
 * queue.c - creates and destroys queues and their streams, and returns the properties of queues.
 *
 * Implements functions of rex/queue.h and rex/interop.h. Either the queue or the program owns the
 * stream. If the program owns the stream, or has called rex_queue_stream(), it may put kernels and
 * copies in the stream without librex. For such a queue, librex always asks the driver whether the
 * stream is idle.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/queue.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"
#include "calls/forward.h"
#include "cuda/context.h"
#include "cuda/deferred.h"
#include "cuda/streamtrace.h"
#include "module/parts.h"
#include "module/registry.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "omp/runtime.h"
#include "present/present.h"
#include "queue/queuetrace.h"
#include "rex/interop.h"
#include "trace/trace.h"

#define PRIORITY_BITS REX_QUEUE_PRIORITY(15)
#define DEFAULT_STREAM_OF_THREAD ((void *)(uintptr_t)2) /* CU_STREAM_PER_THREAD */

/* ---- creation -------------------------------------------------------------------------------- */

static int queue_failed(const struct rex_queue *queue)
{
    return rex_fail(REX_ECUDA, "queue \"%s\": %s", queue->name, rex_cuda_why());
}

/*
 * Retains the context and makes the stream. The stream is made last, so that no later error
 * requires its destruction.
 */
static int open_stream(struct rex_queue *queue, struct rex_module *module, void *const *stream)
{
    int ordinal = queue->gpu.ordinal;
    void *context = NULL;
    if (rex_context_retain(ordinal, &queue->gpu.context) != 0)
        return queue_failed(queue);
    int entered = rex_context_enter(queue->gpu.context);
    int result = REX_OK;
    if (entered < 0) {
        result = queue_failed(queue);
        goto leave;
    }
    result = rex_loaded_image_prepare(rex_registration_of(module), ordinal, queue->gpu.context);
    if (result != REX_OK)
        goto leave;
    if (stream == NULL) {
        /* A lower number is a higher priority. The driver clamps the number to the GPU's range. */
        int priority = -(int)((queue->gpu.flags & PRIORITY_BITS) / REX_QUEUE_PRIORITY(1));
        if (REX_CUDA(cuStreamCreateWithPriority, &queue->stream, REX_CUDA_STREAM_NON_BLOCKING,
                     priority) != 0)
            result = queue_failed(queue);
        goto leave;
    }
    if (*stream == DEFAULT_STREAM_OF_THREAD) {
        result = rex_fail(
            REX_EINVAL,
            "rex_queue_from_stream: CU_STREAM_PER_THREAD cannot be used: it is another stream in "
            "each thread");
        goto leave;
    }
    if (REX_CUDA(cuStreamGetCtx, *stream, &context) != 0) {
        result = queue_failed(queue);
        goto leave;
    }
    /* Refuse other contexts: the module and mapped memory are in the primary context. */
    if (context != queue->gpu.context) {
        result =
            rex_fail(REX_EINVAL,
                     "rex_queue_from_stream: the stream is not in the primary context of device %d",
                     queue->gpu.number);
        goto leave;
    }
    queue->stream = *stream;
    queue->is_theirs = queue->is_shared = queue->busy = true;
    rex_deferred_stop(queue->gpu.number);
leave:
    rex_context_leave(entered);
    if (result != REX_OK)
        rex_context_drop(ordinal);
    return result;
}

static struct rex_pool pool = {.size = sizeof(struct rex_queue), .what = "a queue"};

static struct rex_queue *new_queue(int number, const char *name, unsigned flags)
{
    static unsigned count;
    struct rex_queue *queue = rex_pool_take(&pool);
    if (queue == NULL)
        return NULL;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->put, NULL);
    if (name != NULL)
        snprintf(queue->name, sizeof queue->name, "%s", name);
    /* Relaxed: the number only has to be unique. */
    else
        snprintf(queue->name, sizeof queue->name, "queue %u",
                 __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
    queue->gpu.queue = queue->name;
    queue->gpu.number = number;
    queue->gpu.flags = flags;
    queue->gpu.remember = !(flags & REX_QUEUE_NO_CACHE) && rex_forward_first();
    rex_queue_set_functions(queue);
    return queue;
}

static void free_queue(struct rex_queue *queue)
{
    rex_arguments_free(&queue->gpu.arguments);
    free(queue->trace);
    pthread_cond_destroy(&queue->put);
    pthread_mutex_destroy(&queue->lock);
    queue->immediate = false; /* if this were true, rex_queue_enter() would accept the queue */
    rex_pool_give(&pool, &queue->pooled);
}

static int create_queue(struct rex_queue **queue, struct rex_module *module, int64_t device,
                        const char *name, unsigned flags, void *const *stream)
{
    static bool said;
    int number = 0, result = rex_device_resolve(device, &number);
    if (result != REX_OK)
        return result;
    struct rex_queue *made = new_queue(number, name, flags);
    if (made == NULL)
        return REX_ENOMEM;
    result = rex_device_ordinal("a queue", number, &made->gpu.ordinal);
    made->immediate = made->gpu.ordinal < 0;
    if (result != REX_OK)
        goto free_made;
    if (!made->immediate) {
        result = open_stream(made, module, stream);
        if (result != REX_OK)
            goto free_made;
        rex_unfinished_add(&made->unfinished);
    } else {
        if (rex_log_is_first(&said))
            rex_log(REX_LOG_INFO,
                    "queues of device %d have no streams, and each command ends before its call "
                    "returns: the device is not an NVIDIA GPU",
                    number);
        /* For a device without streams, accept only NULL, the default stream. */
        if (stream != NULL && *stream != NULL) {
            result = rex_fail(REX_ENODEVICE,
                              "rex_queue_from_stream: device %d is not an NVIDIA GPU, and has no "
                              "streams",
                              number);
            goto free_made;
        }
    }
    if (rex_trace_on())
        rex_queue_trace_begin(made);
    *queue = made;
    return REX_OK;
free_made:
    free_queue(made);
    return result;
}

int rex_module_queue_create(struct rex_queue **queue, struct rex_module *module, int64_t device,
                            const char *name, unsigned flags, void *const *stream)
{
    const char *call = stream != NULL ? "rex_queue_from_stream" : "rex_queue_create";
    if (queue == NULL)
        return rex_fail_null(call, "pointer to the queue");
    if ((flags &
         ~(REX_QUEUE_NO_CACHE | REX_QUEUE_BLOCKING | REX_QUEUE_OWN_GLOBALS | PRIORITY_BITS)) != 0)
        return rex_fail(REX_EINVAL, "%s: unknown flags 0x%x", call, flags);
    if (stream != NULL && (flags & PRIORITY_BITS) != 0)
        return rex_fail(REX_EINVAL,
                        "%s: the flags set a priority, but the stream already has a priority",
                        call);
    int result = rex_module_enter(module, REX_NEED_DEVICES_OR_MODULE, call);
    if (result != REX_OK)
        return result;
    result = create_queue(queue, module, device, name, flags, stream);
    rex_gate_leave();
    if (stream != NULL)
        rex_await_all_deferred();
    return result;
}

/* ---- end ------------------------------------------------------------------------------------- */

int rex_queue_destroy(struct rex_queue *queue)
{
    if (queue == NULL)
        return REX_OK;
    int result = rex_pooled_check(queue, "rex_queue_destroy", "queue");
    if (result != REX_OK)
        return result;
    bool here = queue->immediate || queue->pooled.forks == rex_forks();
    if (here) {
        rex_lock(&queue->lock);
        bool captured = queue->capture != NULL;
        result = captured ? rex_queue_refuse_captured(queue, "rex_queue_destroy")
                          : rex_queue_sync_locked(queue);
        rex_unlock(&queue->lock);
        if (captured)
            return result;
    }
    if (!queue->immediate)
        rex_unfinished_remove(&queue->unfinished);
    if (!queue->immediate && here) {
        int entered = rex_context_enter(queue->gpu.context);
        rex_stream_trace_close(queue->trace);
        if (!queue->is_theirs)
            REX_CUDA(cuStreamDestroy, queue->stream);
        rex_context_leave(entered);
        rex_context_drop(queue->gpu.ordinal);
    }
    free_queue(queue);
    return result;
}

/* ---- properties ------------------------------------------------------------------------------ */

int rex_queue_device(const struct rex_queue *queue)
{
    int result = rex_pooled_check(queue, "rex_queue_device", "queue");
    if (result != REX_OK)
        return result;
    return queue->gpu.number;
}

bool rex_queue_is_synchronous(const struct rex_queue *queue)
{
    return rex_pooled_check(queue, "rex_queue_is_synchronous", "queue") == REX_OK &&
           queue->immediate;
}

int rex_queue_stream(struct rex_queue *queue, void **stream, void **context)
{
    if (stream == NULL)
        return rex_fail_null("rex_queue_stream", "pointer to the stream");
    int result = rex_queue_enter(queue, "rex_queue_stream");
    if (result != REX_OK)
        return result;
    int number = queue->gpu.number;
    if (queue->immediate) {
        result = rex_fail_quietly(REX_ENODEVICE,
                                  "rex_queue_stream: queue \"%s\" has no stream, because its "
                                  "device is not an NVIDIA GPU",
                                  queue->name);
        goto unlock;
    }
    if (queue->capture != NULL) {
        result = rex_queue_refuse_captured(queue, "rex_queue_stream");
        goto unlock;
    }
    queue->is_shared = queue->busy = true;
    rex_deferred_stop(number);
    *stream = queue->stream;
    if (context != NULL)
        *context = queue->gpu.context;
unlock:
    rex_unlock(&queue->lock);
    rex_await_deferred(number);
    return result;
}

/* ---- globals --------------------------------------------------------------------------------- */

static void fail_not_loaded(const char *name, int number)
{
    if (rex_runtime_disabled())
        rex_fail(REX_EABSENT,
                 "rex_queue_global: global \"%s\" is on no device: offloading is disabled "
                 "(OMP_TARGET_OFFLOAD)",
                 name);
    else
        rex_fail(
            REX_EABSENT,
            "rex_queue_global: global \"%s\" is not on device %d yet. The first launch or data "
            "call on a device loads the image there: make such a call on device %d first",
            name, number, number);
}

void *rex_module_queue_global(struct rex_module *module, struct rex_queue *queue,
                              const void *variable)
{
    if (rex_module_enter(module, REX_NEED_MODULE, "rex_queue_global") != REX_OK)
        return NULL;
    struct rex_registration *registration = rex_registration_of(module);
    void *address = NULL;
    rex_await_all_deferred();
    if (rex_queue_enter(queue, "rex_queue_global") != REX_OK)
        goto leave;
    int number = queue->gpu.number;
    const struct rex_kernel *global = rex_parts_find(&registration, variable);
    if (global == NULL || global->entry->size == 0) {
        if (variable == NULL)
            rex_fail(REX_EKEY, "rex_queue_global: the global is NULL");
        else
            rex_fail(REX_EKEY,
                     "rex_queue_global: %p is not a global of the module, device image %s",
                     variable, registration->image_path);
        goto unlock;
    }
    if (queue->immediate) {
        address = rex_mapped_ptr(variable, number);
        if (address == NULL)
            fail_not_loaded(global->entry->name, number);
        goto unlock;
    }
    int entered = rex_context_enter(queue->gpu.context);
    if (entered < 0) {
        queue_failed(queue);
        goto unlock;
    }
    address = rex_loaded_global_address(registration, global->entry->name, queue->gpu.ordinal,
                                        queue->gpu.context);
    rex_context_leave(entered);
unlock:
    rex_unlock(&queue->lock);
leave:
    rex_gate_leave();
    return address;
}
