/*
 * event.c - events, which mark places in queues.
 *
 * Implements functions of rex/queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "cuda/context.h"
#include "cuda/deferred.h"
#include "present/unfinished.h"
#include "queue/command.h"

static struct rex_pool pool = {.size = sizeof(struct rex_event), .what = "an event"};

int rex_event_create(struct rex_event **event)
{
    if (event == NULL)
        return rex_fail_null("rex_event_create", "pointer to the event");
    struct rex_event *made = rex_pool_take(&pool);
    if (made == NULL)
        return REX_ENOMEM;
    pthread_mutex_init(&made->lock, NULL);
    *event = made;
    return REX_OK;
}

void rex_event_destroy(struct rex_event *event)
{
    if (event == NULL || rex_pooled_check(event, "rex_event_destroy", "event") != REX_OK)
        return;
    for (struct rex_driver_event *driver = event->drivers, *next; driver != NULL; driver = next) {
        next = driver->next;
        /* rex_event_submit() retained the context of the driver's event. */
        if (driver->forks == rex_forks()) {
            /* If this fails, cuEventDestroy() may still work. */
            int entered = rex_context_enter(driver->context);
            REX_CUDA(cuEventDestroy, driver->handle);
            rex_context_leave(entered);
            rex_context_drop(driver->ordinal);
        }
        free(driver);
    }
    pthread_mutex_destroy(&event->lock);
    rex_pool_give(&pool, &event->pooled);
}

/* ---- in a stream ----------------------------------------------------------------------------- */

int rex_event_submit(struct rex_event *event, const struct rex_stream_gpu *gpu, void *stream)
{
    int result = REX_OK;
    void *context;
    rex_lock(&event->lock);
    struct rex_driver_event *driver = event->drivers;
    while (driver != NULL && (driver->context != gpu->context || driver->forks != rex_forks()))
        driver = driver->next;
    if (driver == NULL) {
        driver = malloc(sizeof *driver);
        if (driver == NULL) {
            result = rex_fail_memory(sizeof *driver, "an event");
            goto unlock;
        }
        *driver = (struct rex_driver_event){.next = event->drivers,
                                            .context = gpu->context,
                                            .ordinal = gpu->ordinal,
                                            .number = gpu->number,
                                            .forks = rex_forks()};
        if (rex_context_retain(gpu->ordinal, &context) != 0)
            goto free_driver;
        if (REX_CUDA(cuEventCreate, &driver->handle, 0) != 0)
            goto drop_context;
        event->drivers = driver;
    }
    if (REX_CUDA(cuEventRecord, driver->handle, stream) != 0) {
        result = rex_fail(REX_ECUDA, "rex_event_record: %s", rex_cuda_why());
        goto unlock;
    }
    event->state = REX_EVENT_DRIVER;
    event->driver = driver;
unlock:
    rex_unlock(&event->lock);
    return result;
drop_context:
    rex_context_drop(gpu->ordinal);
free_driver:
    free(driver);
    result = rex_fail(REX_ECUDA, "queue \"%s\": an event could not be made: %s", gpu->queue,
                      rex_cuda_why());
    goto unlock;
}

/* A copy of an event's state, because another thread may record the event at any time. */
struct seen {
    enum rex_event_state state;
    struct timespec at;
    int number;
    const struct rex_driver_event *driver; /* NULL: nothing to wait for */
};

static struct seen see_event(struct rex_event *event)
{
    rex_lock(&event->lock);
    REX_ASSERT(event->state != REX_EVENT_DRIVER || event->driver != NULL);
    struct seen seen = {event->state, event->at, event->number,
                        event->state == REX_EVENT_DRIVER ? event->driver : NULL};
    rex_unlock(&event->lock);
    return seen;
}

int rex_event_wait(struct rex_event *event, bool immediate, void *stream)
{
    struct seen seen = see_event(event);
    if (seen.state == REX_EVENT_NEW)
        return rex_fail(REX_EINVAL, "rex_queue_wait_event: the event was never recorded");
    if (seen.state == REX_EVENT_GRAPH)
        return rex_fail(
            REX_EINVAL,
            "rex_queue_wait_event: the event was recorded in a graph, whose capture has ended: "
            "record an event after rex_graph_launch()");
    if (seen.driver == NULL)
        return REX_OK;
    if (immediate)
        return rex_event_sync(event);
    if (REX_CUDA(cuStreamWaitEvent, stream, seen.driver->handle, 0) != 0)
        return rex_fail(REX_ECUDA, "rex_queue_wait_event: %s", rex_cuda_why());
    return REX_OK;
}

/* ---- the calling thread ---------------------------------------------------------------------- */

/*
 * Copies the state of EVENT to *SEEN. Returns an error if this thread cannot wait for EVENT. CALL
 * is the public function, and WHAT names the event in messages.
 */
static int look_at_event(struct rex_event *event, const char *call, const char *what,
                         struct seen *seen)
{
    int result = rex_pooled_check(event, call, what);
    if (result != REX_OK)
        return result;
    *seen = see_event(event);
    if (seen->state == REX_EVENT_NEW)
        return rex_fail(REX_EINVAL, "%s: the %s was never recorded", call, what);
    if (seen->state == REX_EVENT_GRAPH)
        return rex_fail(
            REX_EINVAL,
            "%s: the %s was recorded in a graph: record an event after rex_graph_launch()", call,
            what);
    if (seen->driver != NULL && seen->driver->forks != rex_forks())
        return rex_fail(REX_EFORK, "%s: the %s was recorded in this process's parent", call, what);
    return REX_OK;
}

/*
 * Reports a failed call to the driver. CALL is the public function that made the call. If a kernel
 * failed, the device is lost, and the message lists the pending kernels of the device.
 */
static int event_failed(const struct rex_driver_event *driver, const char *call)
{
    struct rex_kernel_list list = {.count = 0};
    char why[256], kernels[REX_KERNEL_LIST_TEXT];
    snprintf(why, sizeof why, "%s", rex_cuda_why()); /* the calls below overwrite the text */
    if (!rex_unfinished_find_lost(driver->number, why, &list))
        return rex_fail(REX_ECUDA, "%s: %s", call, why);
    rex_deferred_kernels(driver->number, &list);
    rex_kernel_list_text(&list, kernels);
    return rex_fail(REX_ECUDA, "%s: %s; kernels that may have failed: %s", call, why, kernels);
}

int rex_event_sync(struct rex_event *event)
{
    struct seen seen;
    int result = look_at_event(event, "rex_event_sync", "event", &seen);
    if (result != REX_OK || seen.driver == NULL)
        return result;
    if (REX_CUDA(cuEventSynchronize, seen.driver->handle) != 0)
        return event_failed(seen.driver, "rex_event_sync");
    return REX_OK;
}

int rex_event_query(struct rex_event *event)
{
    struct seen seen;
    int result = look_at_event(event, "rex_event_query", "event", &seen);
    if (result != REX_OK)
        return result;
    if (seen.driver == NULL)
        return 1;
    int found = rex_driver.cuEventQuery(seen.driver->handle);
    if (found != 0 && found != REX_CUDA_NOT_READY) {
        rex_cuda_note(found, "cuEventQuery");
        return event_failed(seen.driver, "rex_event_query");
    }
    return found == 0;
}

int rex_event_elapsed(double *seconds, struct rex_event *begin, struct rex_event *end)
{
    struct seen first, last;
    float milliseconds;
    if (seconds == NULL)
        return rex_fail_null("rex_event_elapsed", "pointer to the seconds");
    int result = look_at_event(begin, "rex_event_elapsed", "first event", &first);
    if (result != REX_OK)
        return result;
    result = look_at_event(end, "rex_event_elapsed", "second event", &last);
    if (result != REX_OK)
        return result;
    if ((first.driver == NULL) != (last.driver == NULL) ||
        (first.driver != NULL ? first.driver->context != last.driver->context
                              : first.number != last.number))
        return rex_fail(REX_EINVAL, "rex_event_elapsed: the events are of different devices");
    if (first.driver == NULL) {
        *seconds = (double)(last.at.tv_sec - first.at.tv_sec) +
                   1e-9 * (double)(last.at.tv_nsec - first.at.tv_nsec);
        return REX_OK;
    }
    if (REX_CUDA(cuEventElapsedTime, &milliseconds, first.driver->handle, last.driver->handle) != 0)
        return event_failed(first.driver, "rex_event_elapsed");
    *seconds = milliseconds / 1000.0;
    return REX_OK;
}
