/*
 * queue.c - queues: created, queried, synchronized, destroyed.
 *
 * The functions are those of rex/queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"
#include "module/modules.h"
#include "omp/device.h"
#include "omp/forward.h"
#include "omp/present.h"
#include "omp/runtime.h"
#include "omp/unfinished.h"
#include "queue/queuestream.h"
#include "queue/queuetrace.h"
#include "trace/trace.h"

/* ---- creation -------------------------------------------------------------------------------- */

static int failed(const struct rex_queue *queue)
{
    return rex_fail(REX_ECUDA, "queue \"%s\": %s", queue->name, rex_cuda_why());
}

static void log_that_it_is_immediate(int number)
{
    static bool said;
    /* Relaxed: any thread may log it, as long as only one does. */
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        rex_log(REX_LOG_INFO, "queues do everything at once: device %d is no NVIDIA GPU", number);
}

/* A device without streams has no default stream, either, so NULL is accepted for it. */
static int open_immediate(struct rex_queue *queue, const struct rex_stream_of *stream)
{
    log_that_it_is_immediate(queue->gpu.number);
    return stream->theirs == NULL
               ? REX_OK
               : rex_fail(REX_ENODEVICE,
                          "rex_queue_from_stream: a stream, and device %d is no NVIDIA GPU",
                          queue->gpu.number);
}

static int open_queue(struct rex_queue *queue, int number, struct rex_module *module,
                      const struct rex_stream_of *stream)
{
    int ordinal = -1, result = rex_device_ordinal("queues", number, &ordinal);
    queue->immediate = ordinal < 0;
    if (result == REX_OK && queue->immediate)
        result = open_immediate(queue, stream);
    else if (result == REX_OK)
        result = rex_queue_stream_open(queue, ordinal, module, stream);
    if (result == REX_OK && !queue->immediate)
        rex_unfinished_add(&queue->unfinished);
    return result;
}

static struct rex_queue *new_queue(int number, const char *name, unsigned flags)
{
    static unsigned count;
    struct rex_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) {
        rex_fail_memory(sizeof *queue, "a queue");
        return NULL;
    }
    pthread_mutex_init(&queue->lock, NULL);
    if (name != NULL)
        snprintf(queue->name, sizeof queue->name, "%s", name);
    /* Relaxed: the number only has to be different for each queue. */
    else
        snprintf(queue->name, sizeof queue->name, "queue %u",
                 __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
    queue->forks = rex_forks();
    queue->gpu.number = number;
    queue->gpu.flags = flags;
    queue->gpu.is_queue = true;
    queue->gpu.remember = !(flags & REX_QUEUE_NO_CACHE) && rex_forward_first();
    rex_queue_set_unfinished(queue);
    return queue;
}

static void free_queue(struct rex_queue *queue)
{
    rex_arguments_free(&queue->gpu.arguments);
    free(queue->trace);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

/* A program whose kernels are all in libraries has no entries, so no module to register. */
static int ready(struct rex_module *module, const char *call)
{
    int result = rex_module_check(module, call);
    if (result != REX_OK)
        return result;
    return rex_table_is_own(module) || rex_runtime_disabled() ? rex_module_ready(module, call)
                                                              : rex_modules_ready(call);
}

/* The arguments of CALL, the function that creates a queue. */
struct wanted {
    const char *call, *name;
    int64_t device;
    unsigned flags;
    struct rex_stream_of stream;
};

static int check_wanted(struct rex_queue **queue, struct rex_module *module,
                        const struct wanted *wanted, int *number)
{
    if (queue == NULL)
        return rex_fail(REX_EINVAL, "%s: there is no place for the queue", wanted->call);
    if ((wanted->flags & ~(REX_QUEUE_NO_CACHE | REX_QUEUE_BLOCKING | REX_QUEUE_OWN_GLOBALS)) != 0)
        return rex_fail(REX_EINVAL, "%s: unknown flags 0x%x", wanted->call, wanted->flags);
    int result = ready(module, wanted->call);
    return result == REX_OK ? rex_device_resolve(wanted->device, number) : result;
}

static int make_queue(struct rex_queue **queue, struct rex_module *module,
                      const struct wanted *wanted)
{
    int number = 0, result = check_wanted(queue, module, wanted, &number);
    if (result != REX_OK)
        return result;
    struct rex_queue *made = new_queue(number, wanted->name, wanted->flags);
    if (made == NULL)
        return REX_ENOMEM;
    result = open_queue(made, number, module, &wanted->stream);
    if (result == REX_OK && rex_trace_on())
        rex_queue_trace_begin(made);
    if (result == REX_OK)
        *queue = made;
    else
        free_queue(made);
    return result;
}

int rex_module_queue_create(struct rex_queue **queue, struct rex_module *module, int64_t device,
                            const char *name, unsigned flags, void *const *stream)
{
    const struct wanted wanted = {stream != NULL ? "rex_queue_from_stream" : "rex_queue_create",
                                  name,
                                  device,
                                  flags,
                                  {stream != NULL, stream != NULL ? *stream : NULL}};
    return make_queue(queue, module, &wanted);
}

static int being_captured(const struct rex_queue *queue, const char *call)
{
    return rex_fail(REX_EINVAL, "%s: queue \"%s\" is being captured", call, queue->name);
}

int rex_queue_destroy(struct rex_queue *queue)
{
    int result = REX_OK;
    if (queue == NULL)
        return REX_OK;
    bool here = queue->immediate || queue->forks == rex_forks();
    if (here) {
        rex_lock(&queue->lock);
        bool captured = queue->capture != NULL;
        result =
            captured ? being_captured(queue, "rex_queue_destroy") : rex_queue_sync_locked(queue);
        rex_unlock(&queue->lock);
        if (captured)
            return result;
    }
    if (!queue->immediate)
        rex_unfinished_remove(&queue->unfinished);
    if (!queue->immediate && here)
        rex_queue_stream_close(queue);
    free_queue(queue);
    return result;
}

/* ---- waiting --------------------------------------------------------------------------------- */

int rex_queue_sync(struct rex_queue *queue)
{
    int result = rex_queue_enter(queue, "rex_queue_sync");
    if (result != REX_OK)
        return result;
    result = queue->capture != NULL ? being_captured(queue, "rex_queue_sync")
                                    : rex_queue_sync_locked(queue);
    rex_unlock(&queue->lock);
    return result;
}

int rex_queue_query(struct rex_queue *queue)
{
    int result = rex_queue_enter(queue, "rex_queue_query");
    if (result != REX_OK)
        return result;
    result = queue->capture != NULL ? being_captured(queue, "rex_queue_query")
                                    : rex_queue_done_locked(queue);
    rex_unlock(&queue->lock);
    return result;
}

/* ---- properties ------------------------------------------------------------------------------ */

static int no_queue(const char *call)
{
    return rex_fail(REX_EINVAL, "%s: the queue is NULL", call);
}

int rex_queue_device(const struct rex_queue *queue)
{
    return queue != NULL ? queue->gpu.number : no_queue("rex_queue_device");
}

bool rex_queue_is_synchronous(const struct rex_queue *queue)
{
    if (queue == NULL)
        no_queue("rex_queue_is_synchronous");
    return queue != NULL && queue->immediate;
}

/* ---- globals --------------------------------------------------------------------------------- */

static void *global_address(struct rex_registration *registration, const char *name,
                            struct rex_queue *queue, const void *variable)
{
    if (queue->immediate)
        return rex_mapped_ptr(variable, queue->gpu.number);
    int entered = rex_context_enter(queue->gpu.context);
    if (entered < 0) {
        failed(queue);
        return NULL;
    }
    void *address =
        rex_loaded_global_address(registration, name, queue->gpu.ordinal, queue->gpu.context);
    rex_context_leave(entered);
    return address;
}

void *rex_module_queue_global(struct rex_module *module, struct rex_queue *queue,
                              const void *variable)
{
    if (rex_module_ready(module, "rex_queue_global") != REX_OK ||
        rex_queue_enter(queue, "rex_queue_global") != REX_OK)
        return NULL;
    struct rex_registration *registration = rex_registration_of(module);
    const struct rex_kernel *global =
        registration != NULL ? rex_table_find(&registration->table, variable) : NULL;
    void *address = NULL;
    if (global == NULL || global->entry->size == 0)
        rex_fail(REX_EKEY, "rex_queue_global: %p is no global of the module", variable);
    else if ((address = global_address(registration, global->entry->name, queue, variable)) ==
                 NULL &&
             queue->immediate)
        rex_fail(REX_EABSENT, "rex_queue_global: global \"%s\" is not on device %d yet",
                 global->entry->name, queue->gpu.number);
    rex_unlock(&queue->lock);
    return address;
}
