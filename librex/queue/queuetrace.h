/*
 * queuetrace.h - the trace of a queue, and the execution of a traced queue's commands.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_QUEUETRACE_H
#define REX_INTERNAL_QUEUETRACE_H

#include "queue/queue.h"

/* Begins to trace the new QUEUE. If there is no memory or no context, QUEUE is not traced. */
void rex_queue_trace_begin(struct rex_queue *queue);

/* Writes the commands of the locked QUEUE to the trace. QUEUE must be traced and idle. */
void rex_queue_trace_idle(struct rex_queue *queue);

/* Calls rex_command_submit() for the stream of the locked QUEUE. QUEUE must be traced. */
int rex_queue_trace_submit(struct rex_queue *queue, const struct rex_command *command,
                           struct rex_loaded_kernel **kernel);

/*
 * Calls rex_command_do() for the locked QUEUE. QUEUE must be traced and immediate (it executes
 * commands at once: see queue.h).
 */
int rex_queue_trace_do(struct rex_queue *queue, const struct rex_command *command);

#endif
