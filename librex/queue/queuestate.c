/*
 * queuestate.c - whether a queue can be used, and what was at work when its device was lost.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/queuestate.h"

#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"

#define unlikely(condition) __builtin_expect(!!(condition), 0)

int rex_queue_enter(struct rex_queue *queue, const char *call)
{
    if (unlikely(queue == NULL))
        return rex_fail(REX_EINVAL, "%s: the queue is NULL", call);
    if (unlikely(queue->forks != rex_forks() && !queue->immediate))
        return rex_fail(REX_EFORK, "%s: queue \"%s\" was made in this process's parent", call,
                        queue->name);
    rex_lock(&queue->lock);
    return REX_OK;
}

/* ---- kernels, for messages ------------------------------------------------------------------- */

void rex_kernel_list_add_all(struct rex_kernel_list *list, const struct rex_kernel_list *more)
{
    for (uint32_t i = 0; i < more->count && i < REX_KERNEL_LIST_MAX; i++)
        rex_kernel_list_add(list, more->kernel[i].name, more->kernel[i].registration);
    if (more->count > REX_KERNEL_LIST_MAX)
        list->count = REX_KERNEL_LIST_MAX + 1;
}

void rex_kernel_list_text(const struct rex_kernel_list *list, char text[REX_KERNEL_LIST_TEXT])
{
    size_t length = 0, size = REX_KERNEL_LIST_TEXT;
    snprintf(text, size, "no kernel");
    for (uint32_t i = 0; i < list->count && i < REX_KERNEL_LIST_MAX && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s\"%s\"", i > 0 ? ", " : "",
                                   list->kernel[i].name);
    if (list->count > REX_KERNEL_LIST_MAX && length < size)
        snprintf(text + length, size - length, " and others");
}

/* ---- lost ------------------------------------------------------------------------------------ */

void rex_queue_mark_lost(struct rex_queue *queue, const char *why)
{
    snprintf(queue->lost, sizeof queue->lost, "%s", why);
    rex_device_lose(queue->gpu.number, queue->name, queue->lost);
}

int rex_queue_lose(struct rex_queue *queue)
{
    char kernels[REX_KERNEL_LIST_TEXT];
    rex_queue_mark_lost(queue, rex_cuda_why());
    rex_kernel_list_text(&queue->kernels, kernels);
    return rex_fail(REX_ECUDA, "queue \"%s\": %s; launched since the last wait: %s", queue->name,
                    queue->lost, kernels);
}

int rex_queue_refuse_lost(const struct rex_queue *queue)
{
    return unlikely(queue->lost[0] != '\0')
               ? rex_fail(REX_ECUDA, "queue \"%s\": device %d is lost: %s", queue->name,
                          queue->gpu.number, queue->lost)
               : REX_OK;
}

int rex_queue_check_lost(struct rex_queue *queue, int result)
{
    int found = result == REX_ECUDA ? rex_driver.cuStreamQuery(queue->stream) : 0;
    if (found == 0 || found == REX_CUDA_NOT_READY)
        return result;
    rex_cuda_note(found, "cuStreamQuery");
    if (queue->busy)
        return rex_queue_lose(queue);
    /* its own work is done: what failed is another queue's, which will name it */
    rex_queue_mark_lost(queue, rex_cuda_why());
    return result;
}
