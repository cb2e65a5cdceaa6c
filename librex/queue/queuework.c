/*
 * queuework.c - finds out if the work in a queue's stream is pending, done or lost, and if the work
 * may use a mapping or a module.
 *
 * Implements functions of rex/queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"
#include "cuda/deferred.h"
#include "cuda/lost.h"
#include "queue/queue.h"
#include "queue/queuetrace.h"

/* ---- lost ------------------------------------------------------------------------------------ */

/*
 * Returns true if FOUND, the result of a stream query, means that the GPU is lost. FOUND is -1 if
 * the context could not be entered.
 */
static bool tells_of_loss(int found)
{
    return found > 0 && found != REX_CUDA_NOT_READY && !rex_cuda_is_of_call(found);
}

/* Marks QUEUE and its device as lost, because of WHY. */
static void mark_lost(struct rex_queue *queue, const char *why)
{
    char name[80];
    snprintf(queue->lost, sizeof queue->lost, "%s", why);
    snprintf(name, sizeof name, "queue \"%s\"", queue->name);
    rex_device_lose(queue->gpu.ordinal, queue->gpu.number, name, queue->lost, NULL);
}

/*
 * Reports FOUND, an error of the driver whose text is in rex_cuda_why(). Marks QUEUE as lost if
 * FOUND means that the GPU is lost.
 */
static int queue_work_failed(struct rex_queue *queue, int found)
{
    char kernels[REX_KERNEL_LIST_TEXT];
    if (!tells_of_loss(found))
        return rex_fail(REX_ECUDA, "queue \"%s\": %s", queue->name, rex_cuda_why());
    mark_lost(queue, rex_cuda_why());
    struct rex_kernel_list list = queue->kernels;
    rex_deferred_kernels(queue->gpu.number, &list);
    rex_kernel_list_text(&list, kernels);
    return rex_fail(REX_ECUDA, "queue \"%s\": %s; kernels that may have failed: %s", queue->name,
                    queue->lost, kernels);
}

int rex_queue_check_lost(struct rex_queue *queue)
{
    int found = rex_cuda_noted();
    if (found != REX_CUDA_ILLEGAL_ADDRESS) {
        found = rex_driver.cuStreamQuery(queue->stream);
        if (!tells_of_loss(found))
            return REX_ECUDA;
        rex_cuda_note(found, "cuStreamQuery");
    }
    if (queue->busy)
        return queue_work_failed(queue, found);
    struct rex_kernel_list list = {.count = 0};
    int result = REX_ECUDA, number = queue->gpu.number;
    /* If a deferred launch failed, report it here, because no queue reports it. */
    rex_deferred_kernels(number, &list);
    if (list.count > 0) {
        rex_device_lose(queue->gpu.ordinal, number, "a deferred launch", rex_cuda_why(), &list);
        result = rex_device_lost(number, queue->name);
    }
    /*
     * The queue is idle, so the failure is not from its kernels. Mark the queue as lost without
     * naming kernels: if a kernel of another queue failed, that queue names its kernels
     * (queue_work_failed()).
     */
    mark_lost(queue, rex_cuda_why());
    return result;
}

/* ---- busy and idle --------------------------------------------------------------------------- */

/*
 * Called with BEGINS true before a command waits for the stream: unlocks the queue. Called with
 * BEGINS false after the wait: locks the queue again. During the wait other threads may query the
 * queue, but their commands wait.
 *
 * This function does not call rex_unlock(), which would call the program's log function for lines
 * that librex held back while the queue was locked. The log function may put a command in the
 * queue, and the command would wait for this thread.
 */
static void wait_unlocked(struct rex_stream_gpu *gpu, bool begins)
{
    struct rex_queue *queue = (void *)((char *)gpu - offsetof(struct rex_queue, gpu));
    if (!begins)
        pthread_mutex_lock(&queue->lock);
    REX_ASSERT(queue->is_waiting != begins);
    queue->is_waiting = begins;
    if (begins) {
        queue->busy = true;
        queue->serial++;
        pthread_mutex_unlock(&queue->lock);
    } else
        pthread_cond_broadcast(&queue->put);
}

/* Clears the state of pending work, because all work in the stream is done. */
static void become_idle(struct rex_queue *queue)
{
    REX_ASSERT(!queue->is_waiting);
    queue->busy = queue->is_shared;
    queue->reached = 0;
    queue->kernels.count = 0;
    rex_addresses_unmark(&queue->gpu.addresses);
    if (queue->trace != NULL)
        rex_queue_trace_idle(queue);
}

int rex_queue_sync_locked(struct rex_queue *queue)
{
    while (queue->is_waiting)
        pthread_cond_wait(&queue->put, &queue->lock);
    uint64_t serial = queue->serial;
    if (!queue->busy)
        return REX_OK;
    rex_unlock(&queue->lock);
    int entered = rex_context_enter(queue->gpu.context);
    int result = entered < 0 ? -1 : REX_CUDA(cuStreamSynchronize, queue->stream);
    rex_context_leave(entered);
    rex_lock(&queue->lock);
    if (result != 0)
        return queue_work_failed(queue, result);
    if (serial == queue->serial)
        become_idle(queue);
    return REX_OK;
}

/*
 * Queries the stream. Returns 0, REX_CUDA_NOT_READY or another CUresult, without a call of
 * rex_cuda_note(). Returns -1 if the context cannot be entered; rex_cuda_why() gives the reason.
 */
static int query_stream(const struct rex_queue *queue)
{
    int entered = rex_context_enter(queue->gpu.context);
    int found = entered < 0 ? -1 : rex_driver.cuStreamQuery(queue->stream);
    rex_context_leave(entered);
    return found;
}

/*
 * Returns 1 if the locked QUEUE has no pending work, 0 if it may have pending work, or an error.
 * Unlocks the queue during the query, because the driver may delay the query until another thread's
 * call is done.
 */
static int query_queue(struct rex_queue *queue)
{
    uint64_t serial = queue->serial;
    if (!queue->busy)
        return 1;
    if (queue->is_waiting)
        return 0;
    rex_unlock(&queue->lock);
    int found = query_stream(queue);
    rex_lock(&queue->lock);
    if (found > 0 && found != REX_CUDA_NOT_READY)
        rex_cuda_note(found, "cuStreamQuery");
    if (found != 0 && found != REX_CUDA_NOT_READY)
        return queue_work_failed(queue, found);
    bool is_idle = found == 0 && serial == queue->serial;
    if (is_idle)
        become_idle(queue);
    return is_idle;
}

/* ---- the calling thread ---------------------------------------------------------------------- */

/*
 * Locks QUEUE, and returns the result of QUESTION(QUEUE). If QUEUE is being captured, returns an
 * error.
 */
static int ask_queue(struct rex_queue *queue, const char *call,
                     int (*question)(struct rex_queue *queue))
{
    int result = rex_queue_enter(queue, call);
    if (result != REX_OK)
        return result;
    result = queue->capture != NULL ? rex_queue_refuse_captured(queue, call) : question(queue);
    rex_unlock(&queue->lock);
    return result;
}

int rex_queue_sync(struct rex_queue *queue)
{
    return ask_queue(queue, "rex_queue_sync", rex_queue_sync_locked);
}

int rex_queue_query(struct rex_queue *queue)
{
    return ask_queue(queue, "rex_queue_query", query_queue);
}

/* ---- queries by mappings and modules --------------------------------------------------------- */

/*
 * Returns true if QUEUE may have pending work, or if the query fails. Returns false if QUEUE is
 * lost, because nothing runs on a lost device.
 */
static bool may_be_at_work(struct rex_queue *queue)
{
    return query_queue(queue) != 1 && queue->lost[0] == '\0';
}

static struct rex_queue *queue_of(struct rex_unfinished *unfinished)
{
    return (struct rex_queue *)((char *)unfinished - offsetof(struct rex_queue, unfinished));
}

/* Only copies between devices use memory of a device other than the queue's device. */
static bool queue_uses(struct rex_unfinished *unfinished, const void *begin, size_t size,
                       int number)
{
    struct rex_queue *queue = queue_of(unfinished);
    bool result = false;
    rex_lock(&queue->lock);
    if (number != REX_ANY_DEVICE && number != queue->gpu.number &&
        (queue->reached >> number % 64 & 1) == 0)
        goto unlock;
    if (!may_be_at_work(queue))
        goto unlock;
    if (begin == NULL)
        result = true;
    else if (number == queue->gpu.number)
        result = rex_addresses_in_use(&queue->gpu.addresses, begin, size, number);
    else
        result = rex_addresses_ranges_in_use(&queue->gpu.addresses, begin, size, number);
unlock:
    rex_unlock(&queue->lock);
    return result;
}

static bool queue_runs(struct rex_unfinished *unfinished,
                       const struct rex_registration *registration)
{
    struct rex_queue *queue = queue_of(unfinished);
    rex_lock(&queue->lock);
    bool result = may_be_at_work(queue), found = queue->kernels.count > REX_KERNEL_LIST_MAX;
    for (uint32_t i = 0; i < queue->kernels.count && i < REX_KERNEL_LIST_MAX; i++)
        found |= queue->kernels.kernel[i].registration == registration;
    rex_unlock(&queue->lock);
    return result && found;
}

static void queue_forgets(struct rex_unfinished *unfinished,
                          const struct rex_registration *registration)
{
    struct rex_queue *queue = queue_of(unfinished);
    rex_lock(&queue->lock);
    rex_kernel_list_forget(&queue->kernels, registration);
    rex_unlock(&queue->lock);
}

static int queue_sync(struct rex_unfinished *unfinished)
{
    struct rex_queue *queue = queue_of(unfinished);
    rex_lock(&queue->lock);
    int result = rex_queue_sync_locked(queue);
    rex_unlock(&queue->lock);
    return result;
}

/*
 * After an error that makes a context unusable, every stream of the context returns the error. So
 * an idle queue is lost, too.
 */
static bool queue_is_lost(struct rex_unfinished *unfinished, const char *why,
                          struct rex_kernel_list *kernels)
{
    struct rex_queue *queue = queue_of(unfinished);
    bool lost = tells_of_loss(query_stream(queue));
    rex_lock(&queue->lock);
    if (lost) {
        mark_lost(queue, why);
        rex_kernel_list_add_all(kernels, &queue->kernels);
    }
    rex_unlock(&queue->lock);
    return lost;
}

void rex_queue_set_functions(struct rex_queue *queue)
{
    queue->gpu.waits = wait_unlocked;
    queue->unfinished = (struct rex_unfinished){.name = queue->name,
                                                .number = queue->gpu.number,
                                                .uses = queue_uses,
                                                .runs = queue_runs,
                                                .sync = queue_sync,
                                                .forget = queue_forgets,
                                                .is_lost = queue_is_lost};
}
