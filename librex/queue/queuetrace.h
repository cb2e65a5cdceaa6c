/*
 * queuetrace.h - the trace of a queue; commands of traced queues go through it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_QUEUETRACE_H
#define REX_INTERNAL_QUEUETRACE_H

#include "queue/queue.h"

/* Begin to trace QUEUE, which is new. */
void rex_queue_trace_begin(struct rex_queue *queue);

/* Write all commands of the locked QUEUE, which is traced and idle. */
void rex_queue_trace_idle(struct rex_queue *queue);

/* rex_command_submit() to the stream of the locked QUEUE, which is traced. */
int rex_queue_trace_submit(struct rex_queue *queue, const struct rex_command *command,
                           struct rex_loaded_kernel **kernel);

/* rex_command_do() on the device of the locked QUEUE, which is immediate and traced. */
int rex_queue_trace_do(struct rex_queue *queue, const struct rex_command *command);

#endif
