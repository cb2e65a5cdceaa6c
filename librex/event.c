/*
 * event.c - places in queues.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "event.h"

#include <stdlib.h>

#include "error.h"
#include "graph.h"
#include "log.h"
#include "queues.h"

int rex_event_create(struct rex_event **event)
{
    if (event == NULL)
        return rex_fail(REX_EINVAL, "rex_event_create: there is no place for the event");
    struct rex_event *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rex_fail_memory(sizeof *made, "an event");
    pthread_mutex_init(&made->lock, NULL);
    *event = made;
    return REX_OK;
}

/* The driver's event belongs to a context, which is kept as long. */
static void drop_driver_event(struct rex_event *event)
{
    int entered = event->driver != NULL && event->forks == rex_forks() ? rex_stream_enter(event->context) : -1;
    if (entered >= 0) {
        REX_STREAM(cuEventDestroy, event->driver);
        rex_stream_leave(entered);
        rex_cuda_context_release(event->ordinal);
    }
    event->driver = NULL;
}

void rex_event_destroy(struct rex_event *event)
{
    if (event == NULL)
        return;
    drop_driver_event(event);
    pthread_mutex_destroy(&event->lock);
    free(event);
}

/* ---- in a stream ----------------------------------------------------------------------------------------------------------------- */

static int make_driver_event(struct rex_event *event, const struct rex_gpu *gpu)
{
    void *context;
    drop_driver_event(event);
    if (rex_cuda_context_hold(gpu->ordinal, &context) != 0)
        return rex_fail(REX_ECUDA, "an event: %s", rex_cuda_why());
    if (REX_STREAM(cuEventCreate, &event->driver, 0) != 0) {
        event->driver = NULL;
        rex_cuda_context_release(gpu->ordinal);
        return rex_fail(REX_ECUDA, "an event: %s", rex_cuda_why());
    }
    event->context = gpu->context;
    event->ordinal = gpu->ordinal;
    event->forks = rex_forks();
    return REX_OK;
}

int rex_event_issue_record(struct rex_event *event, struct rex_gpu *gpu, void *stream)
{
    int result = REX_OK;
    rex_lock(&event->lock);
    if (event->driver == NULL || event->context != gpu->context || event->forks != rex_forks())
        result = make_driver_event(event, gpu);
    if (result == REX_OK && REX_STREAM(cuEventRecord, event->driver, stream) != 0)
        result = rex_fail(REX_ECUDA, "rex_event_record: %s", rex_cuda_why());
    if (result == REX_OK)
        event->state = REX_EVENT_DRIVER;
    rex_unlock(&event->lock);
    return result;
}

static int never_recorded(const char *call)
{
    return rex_fail(REX_EINVAL, "%s: the event was never recorded", call);
}

static int recorded_in_graph(void)
{
    return rex_fail(REX_EINVAL, "rex_queue_wait: the event was recorded in a graph, which is no longer recorded");
}

int rex_event_issue_wait(struct rex_event *event, void *stream)
{
    int result = REX_OK;
    rex_lock(&event->lock);
    if (event->state == REX_EVENT_GRAPH)
        result = recorded_in_graph();
    else if (event->state == REX_EVENT_NEW)
        result = never_recorded("rex_queue_wait");
    else if (event->state == REX_EVENT_DRIVER && REX_STREAM(cuStreamWaitEvent, stream, event->driver, 0) != 0)
        result = rex_fail(REX_ECUDA, "rex_queue_wait: %s", rex_cuda_why());
    rex_unlock(&event->lock);
    return result;
}

/* ---- record and wait -------------------------------------------------------------------------------------------------------------- */

static void record_time(struct rex_event *event)
{
    rex_lock(&event->lock);
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    event->state = REX_EVENT_TIMED;
    rex_unlock(&event->lock);
}

int rex_event_record(struct rex_event *event, struct rex_queue *queue)
{
    int result = event != NULL ? rex_queue_enter(queue, "rex_event_record") : rex_fail(REX_EINVAL, "rex_event_record: the event is NULL");
    if (result != REX_OK)
        return result;
    struct rex_work work = {.kind = REX_WORK_RECORD, .event = {.event = event}};
    if (queue->recording != NULL)
        result = rex_graph_record(queue->recording, event, queue->lane);
    else if (queue->waits)
        record_time(event);
    else
        result = rex_queue_put(queue, &work);
    rex_unlock(&queue->lock);
    return result;
}

static int check_recorded(struct rex_event *event, const char *call)
{
    rex_lock(&event->lock);
    enum rex_event_state state = event->state;
    rex_unlock(&event->lock);
    return state == REX_EVENT_NEW ? never_recorded(call) : REX_OK;
}

/* A device that does everything at once has nothing to wait with, but the calling thread. */
static int wait_at_once(struct rex_event *event)
{
    if (event->state == REX_EVENT_DRIVER)
        return rex_event_sync(event);
    return event->state == REX_EVENT_GRAPH ? recorded_in_graph() : check_recorded(event, "rex_queue_wait");
}

int rex_queue_wait(struct rex_queue *queue, struct rex_event *event)
{
    int result = event != NULL ? rex_queue_enter(queue, "rex_queue_wait") : rex_fail(REX_EINVAL, "rex_queue_wait: the event is NULL");
    if (result != REX_OK)
        return result;
    struct rex_work work = {.kind = REX_WORK_WAIT, .event = {.event = event}};
    int joined = rex_graph_wait(queue, event, &result);
    if (result == REX_OK && !joined)
        result = queue->waits ? wait_at_once(event) : rex_queue_put(queue, &work);
    rex_unlock(&queue->lock);
    return result;
}

/* ---- the calling thread --------------------------------------------------------------------------------------------------------- */

/* The driver's event to look at, NULL where there is nothing to wait for. */
static int find_driver_event(struct rex_event *event, const char *call, void **driver)
{
    int result = event != NULL ? check_recorded(event, call) : rex_fail(REX_EINVAL, "%s: the event is NULL", call);
    if (result != REX_OK)
        return result;
    if (event->state == REX_EVENT_GRAPH)
        return rex_fail(REX_EINVAL, "%s: the event was recorded in a graph: record one after rex_graph_launch()", call);
    if (event->state == REX_EVENT_DRIVER && event->forks != rex_forks())
        return rex_fail(REX_EFORK, "%s: the event was recorded in this process's parent", call);
    *driver = event->state == REX_EVENT_DRIVER ? event->driver : NULL;
    return REX_OK;
}

int rex_event_sync(struct rex_event *event)
{
    void *driver = NULL;
    int result = find_driver_event(event, "rex_event_sync", &driver);
    if (result == REX_OK && driver != NULL && REX_STREAM(cuEventSynchronize, driver) != 0)
        result = rex_fail(REX_ECUDA, "rex_event_sync: %s", rex_cuda_why());
    return result;
}

int rex_event_done(struct rex_event *event)
{
    void *driver = NULL;
    int result = find_driver_event(event, "rex_event_done", &driver);
    if (result != REX_OK || driver == NULL)
        return result == REX_OK ? 1 : result;
    int found = rex_stream_driver.cuEventQuery(driver);
    if (found != 0 && found != REX_CUDA_NOT_READY) {
        rex_cuda_record(found, "cuEventQuery");
        return rex_fail(REX_ECUDA, "rex_event_done: %s", rex_cuda_why());
    }
    return found == 0;
}

static double seconds_between(const struct timespec *begin, const struct timespec *end)
{
    return (double)(end->tv_sec - begin->tv_sec) + 1e-9 * (double)(end->tv_nsec - begin->tv_nsec);
}

int rex_event_seconds(struct rex_event *begin, struct rex_event *end, double *seconds)
{
    void *drivers[2] = {NULL, NULL};
    float milliseconds;
    int result = seconds != NULL ? find_driver_event(begin, "rex_event_seconds", &drivers[0])
                                 : rex_fail(REX_EINVAL, "rex_event_seconds: there is no place for the result");
    if (result == REX_OK)
        result = find_driver_event(end, "rex_event_seconds", &drivers[1]);
    if (result != REX_OK)
        return result;
    if ((drivers[0] == NULL) != (drivers[1] == NULL) || (drivers[0] != NULL && begin->context != end->context))
        return rex_fail(REX_EINVAL, "rex_event_seconds: the events are of different devices");
    if (drivers[0] == NULL)
        *seconds = seconds_between(&begin->at, &end->at);
    else if (REX_STREAM(cuEventElapsedTime, &milliseconds, drivers[0], drivers[1]) != 0)
        return rex_fail(REX_ECUDA, "rex_event_seconds: %s", rex_cuda_why());
    else
        *seconds = milliseconds / 1000.0;
    return REX_OK;
}
