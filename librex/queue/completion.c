/*
 * completion.c - the end of what was put in a queue: waiting for it, and what its being unfinished
 * means for mappings and modules.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/completion.h"

#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"
#include "queue/queuetrace.h"

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* All that was in the stream is done. */
static void become_idle(struct rex_queue *queue)
{
    queue->busy = false;
    queue->kernels.count = 0;
    rex_spans_release(&queue->gpu.spans);
    if (queue->trace != NULL)
        rex_queue_trace_idle(queue);
}

int rex_queue_sync_locked(struct rex_queue *queue)
{
    uint64_t serial = queue->serial;
    if (!queue->busy)
        return REX_OK;
    rex_unlock(&queue->lock);
    int entered = rex_context_enter(queue->gpu.context);
    int result = entered < 0 ? -1 : REX_CUDA(cuStreamSynchronize, queue->stream);
    rex_context_leave(entered);
    rex_lock(&queue->lock);
    if (result != 0)
        return rex_queue_lose(queue);
    if (serial == queue->serial)
        become_idle(queue);
    return REX_OK;
}

int rex_queue_sync_if_stepwise(struct rex_queue *queue)
{
    return unlikely(queue->gpu.flags & REX_QUEUE_STEPWISE) ? rex_queue_sync_locked(queue) : REX_OK;
}

/*
 * What the driver says of the stream: 0, REX_CUDA_NOT_READY or an error, which is not noted but
 * where the context cannot be entered.
 */
static int query_stream(const struct rex_queue *queue)
{
    int entered = rex_context_enter(queue->gpu.context);
    int found = entered < 0 ? -1 : rex_driver.cuStreamQuery(queue->stream);
    rex_context_leave(entered);
    return found;
}

int rex_queue_done_locked(struct rex_queue *queue)
{
    if (!queue->busy)
        return 1;
    int found = query_stream(queue);
    if (found == REX_CUDA_NOT_READY)
        return 0;
    if (found != 0) {
        rex_cuda_note(found, "cuStreamQuery");
        return rex_queue_lose(queue);
    }
    become_idle(queue);
    return 1;
}

/* ---- as mappings and modules see it ---------------------------------------------------------- */

static struct rex_queue *queue_of(struct rex_pending *pending)
{
    return (struct rex_queue *)((char *)pending - offsetof(struct rex_queue, pending));
}

static bool uses(struct rex_pending *pending, const void *begin, size_t size)
{
    struct rex_queue *queue = queue_of(pending);
    rex_lock(&queue->lock);
    bool result =
        rex_queue_done_locked(queue) == 0 &&
        (begin == NULL || rex_spans_in_use(&queue->gpu.spans, begin, size, queue->gpu.number));
    rex_unlock(&queue->lock);
    return result;
}

static bool runs(struct rex_pending *pending, const struct rex_registration *registration)
{
    struct rex_queue *queue = queue_of(pending);
    rex_lock(&queue->lock);
    bool result = rex_queue_done_locked(queue) == 0,
         found = queue->kernels.count > REX_KERNEL_LIST_MAX;
    for (uint32_t i = 0; i < queue->kernels.count && i < REX_KERNEL_LIST_MAX; i++)
        found |= queue->kernels.kernel[i].registration == registration;
    rex_unlock(&queue->lock);
    return result && found;
}

static int wait_for(struct rex_pending *pending)
{
    struct rex_queue *queue = queue_of(pending);
    rex_lock(&queue->lock);
    int result = rex_queue_sync_locked(queue);
    rex_unlock(&queue->lock);
    return result;
}

/*
 * An error that stays comes from every stream of the context, also from one that has nothing to do.
 */
static bool is_lost(struct rex_pending *pending, const char *why, struct rex_kernel_list *kernels)
{
    struct rex_queue *queue = queue_of(pending);
    rex_lock(&queue->lock);
    int found = query_stream(queue);
    bool lost = found != 0 && found != REX_CUDA_NOT_READY;
    if (lost) {
        rex_queue_mark_lost(queue, why);
        rex_kernel_list_add_all(kernels, &queue->kernels);
    }
    rex_unlock(&queue->lock);
    return lost;
}

void rex_queue_set_pending(struct rex_queue *queue)
{
    queue->pending = (struct rex_pending){.name = queue->name,
                                          .number = queue->gpu.number,
                                          .uses = uses,
                                          .runs = runs,
                                          .wait = wait_for,
                                          .is_lost = is_lost};
}
