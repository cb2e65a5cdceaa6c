/*
 * queuestream.c - the stream of a queue: its own, lent to the program, or owned by the program.
 *
 * librex does not see work that the program puts in a stream. So a queue whose stream the program
 * has asks the driver each time whether it is idle.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "queue/queuestream.h"

#include "base/error.h"
#include "base/log.h"
#include "cuda/context.h"
#include "queue/queuetrace.h"
#include "rex/interop.h"

#define DEFAULT_STREAM_OF_THREAD ((void *)(uintptr_t)2) /* CU_STREAM_PER_THREAD */

static int failed(const struct rex_queue *queue)
{
    return rex_fail(REX_ECUDA, "queue \"%s\": %s", queue->name, rex_cuda_why());
}

static int make_own(struct rex_queue *queue)
{
    return REX_CUDA(cuStreamCreate, &queue->stream, REX_CUDA_STREAM_NON_BLOCKING) == 0
               ? REX_OK
               : failed(queue);
}

static void share(struct rex_queue *queue)
{
    queue->is_shared = true;
    queue->busy = true;
}

/* The stream must be in the primary context, like librex's load of the module and mapped memory. */
static int take_theirs(struct rex_queue *queue, void *stream)
{
    void *context = NULL;
    if (stream == DEFAULT_STREAM_OF_THREAD)
        return rex_fail(REX_EINVAL,
                        "rex_queue_from_stream: the default stream of each thread is several");
    if (REX_CUDA(cuStreamGetCtx, stream, &context) != 0)
        return failed(queue);
    if (context != queue->gpu.context)
        return rex_fail(
            REX_EINVAL,
            "rex_queue_from_stream: the stream is not of device %d, in its primary context",
            queue->gpu.number);
    queue->stream = stream;
    queue->is_theirs = true;
    share(queue);
    return REX_OK;
}

/* Makes the stream last, because failures before it then leave nothing in the context. */
int rex_queue_stream_open(struct rex_queue *queue, int ordinal, struct rex_module *module,
                          const struct rex_stream_of *stream)
{
    queue->gpu.ordinal = ordinal;
    if (rex_context_retain(ordinal, &queue->gpu.context) != 0)
        return failed(queue);
    int entered = rex_context_enter(queue->gpu.context);
    int result = entered < 0 ? failed(queue)
                             : rex_loaded_image_prepare(rex_registration_of(module), ordinal,
                                                        queue->gpu.context);
    if (result == REX_OK)
        result = stream->is_theirs ? take_theirs(queue, stream->theirs) : make_own(queue);
    rex_context_leave(entered);
    if (result != REX_OK)
        rex_context_drop(ordinal);
    return result;
}

void rex_queue_stream_close(struct rex_queue *queue)
{
    int entered = rex_context_enter(queue->gpu.context);
    rex_queue_trace_end(queue);
    if (!queue->is_theirs)
        REX_CUDA(cuStreamDestroy, queue->stream);
    rex_context_leave(entered);
    rex_context_drop(queue->gpu.ordinal);
}

/* ---- lending --------------------------------------------------------------------------------- */

static int lend(struct rex_queue *queue, void **stream, void **context)
{
    if (queue->immediate)
        return rex_fail(REX_ENODEVICE,
                        "rex_queue_stream: queue \"%s\" has none: device %d is no NVIDIA GPU",
                        queue->name, queue->gpu.number);
    if (queue->capture != NULL)
        return rex_fail(REX_EINVAL, "rex_queue_stream: queue \"%s\" is being captured",
                        queue->name);
    share(queue);
    *stream = queue->stream;
    if (context != NULL)
        *context = queue->gpu.context;
    return REX_OK;
}

int rex_queue_stream(struct rex_queue *queue, void **stream, void **context)
{
    int result = stream != NULL
                     ? rex_queue_enter(queue, "rex_queue_stream")
                     : rex_fail(REX_EINVAL, "rex_queue_stream: there is no place for the stream");
    if (result != REX_OK)
        return result;
    result = lend(queue, stream, context);
    rex_unlock(&queue->lock);
    return result;
}
