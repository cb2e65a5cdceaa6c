/*
 * queuetrace.h - the trace of a queue; commands of traced queues go through it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_QUEUETRACE_H
#define REX_INTERNAL_QUEUETRACE_H

#include "queue/command.h"
#include "queue/queuestate.h"

/* Begin to trace QUEUE, which is new. */
void rex_queue_trace_begin(struct rex_queue *queue);

/* Write all commands of the locked QUEUE, which is traced and idle. */
void rex_queue_trace_idle(struct rex_queue *queue);

/* Called before the stream of QUEUE, traced or not, is destroyed; its context is current. */
void rex_queue_trace_end(struct rex_queue *queue);

/* The versions of the functions below for a traced queue. */
int rex_queue_trace_submit(struct rex_queue *queue, const struct rex_command *command,
                           struct rex_loaded_kernel **kernel);
int rex_queue_trace_graph(struct rex_queue *queue, void *executable, size_t launches);
int rex_queue_trace_do(struct rex_queue *queue, const struct rex_command *command);

/* rex_command_submit() to the stream of the locked QUEUE. */
static inline int rex_queue_submit(struct rex_queue *queue, const struct rex_command *command,
                                   struct rex_loaded_kernel **kernel)
{
    return __builtin_expect(queue->trace == NULL, 1)
               ? rex_command_submit(&queue->gpu, queue->stream, command, kernel)
               : rex_queue_trace_submit(queue, command, kernel);
}

/* rex_graph_submit() to the stream of the locked QUEUE; the graph has so many LAUNCHES. */
static inline int rex_queue_submit_graph(struct rex_queue *queue, void *executable, size_t launches)
{
    return __builtin_expect(queue->trace == NULL, 1)
               ? rex_graph_submit(executable, queue->stream)
               : rex_queue_trace_graph(queue, executable, launches);
}

/* rex_command_do() on the device of the locked QUEUE, which is immediate. */
static inline int rex_queue_do(struct rex_queue *queue, const struct rex_command *command)
{
    return __builtin_expect(queue->trace == NULL, 1) ? rex_command_do(queue->gpu.number, command)
                                                     : rex_queue_trace_do(queue, command);
}

#endif
