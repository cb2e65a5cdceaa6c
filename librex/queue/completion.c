/*
 * completion.c - the end of a queue's work: waiting for it, and what its being unfinished means for
 * mappings and modules.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"
#include "queue/queues.h"

/* ---- the end of work ------------------------------------------------------------------------- */

/* All that was in the stream is done. */
static void be_idle(struct rex_queue *queue)
{
    queue->busy = false;
    queue->noted.count = 0;
    rex_spans_release(&queue->gpu.spans);
    if (queue->trace != NULL)
        rex_queue_trace_idle(queue);
}

void rex_noted_list(const struct rex_noted *noted, char list[REX_NOTED_TEXT])
{
    size_t length = 0, size = REX_NOTED_TEXT;
    snprintf(list, size, "no kernel");
    for (uint32_t i = 0; i < noted->count && i < REX_NOTED && length < size; i++)
        length += (size_t)snprintf(list + length, size - length, "%s\"%s\"", i > 0 ? ", " : "",
                                   noted->kernel[i].name);
    if (noted->count > REX_NOTED && length < size)
        snprintf(list + length, size - length, " and others");
}

/* The device has met with an error, which stays: every later call will give the same. */
void rex_queue_keep_loss(struct rex_queue *queue, const char *why)
{
    snprintf(queue->lost, sizeof queue->lost, "%s", why);
    rex_device_lose(queue->gpu.number, queue->name, queue->lost);
}

int rex_queue_lose(struct rex_queue *queue)
{
    char kernels[REX_NOTED_TEXT];
    rex_queue_keep_loss(queue, rex_cuda_why());
    rex_noted_list(&queue->noted, kernels);
    return rex_fail(REX_ECUDA, "queue \"%s\": %s; launched since the last wait: %s", queue->name,
                    queue->lost, kernels);
}

int rex_queue_await(struct rex_queue *queue)
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
        be_idle(queue);
    return REX_OK;
}

int rex_queue_look(struct rex_queue *queue)
{
    if (!queue->busy)
        return 1;
    int entered = rex_context_enter(queue->gpu.context);
    int result = entered < 0 ? -1 : rex_driver.cuStreamQuery(queue->stream);
    rex_context_leave(entered);
    if (result == REX_CUDA_NOT_READY)
        return 0;
    if (result != 0) {
        rex_cuda_note(result, "cuStreamQuery");
        return rex_queue_lose(queue);
    }
    be_idle(queue);
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
        rex_queue_look(queue) == 0 &&
        (begin == NULL || rex_spans_in_use(&queue->gpu.spans, begin, size, queue->gpu.number));
    rex_unlock(&queue->lock);
    return result;
}

static bool runs(struct rex_pending *pending, const struct rex_registration *registration)
{
    struct rex_queue *queue = queue_of(pending);
    rex_lock(&queue->lock);
    bool result = rex_queue_look(queue) == 0, found = queue->noted.count > REX_NOTED;
    for (uint32_t i = 0; i < queue->noted.count && i < REX_NOTED; i++)
        found |= queue->noted.kernel[i].registration == registration;
    rex_unlock(&queue->lock);
    return result && found;
}

static int wait_for(struct rex_pending *pending)
{
    struct rex_queue *queue = queue_of(pending);
    rex_lock(&queue->lock);
    int result = rex_queue_await(queue);
    rex_unlock(&queue->lock);
    return result;
}

/*
 * An error that stays comes from every stream of the context, also from one that has nothing to do.
 */
static bool is_lost(struct rex_pending *pending, const char *why, struct rex_noted *noted)
{
    struct rex_queue *queue = queue_of(pending);
    rex_lock(&queue->lock);
    int entered = rex_context_enter(queue->gpu.context);
    int found = entered < 0 ? -1 : rex_driver.cuStreamQuery(queue->stream);
    rex_context_leave(entered);
    bool lost = found != 0 && found != REX_CUDA_NOT_READY;
    if (lost) {
        rex_queue_keep_loss(queue, why);
        rex_note_all(noted, &queue->noted);
    }
    rex_unlock(&queue->lock);
    return lost;
}

void rex_queue_watch(struct rex_queue *queue)
{
    queue->pending = (struct rex_pending){.name = queue->name,
                                          .number = queue->gpu.number,
                                          .uses = uses,
                                          .runs = runs,
                                          .wait = wait_for,
                                          .is_lost = is_lost};
}
