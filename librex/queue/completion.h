/*
 * completion.h - the end of what was put in a queue.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_COMPLETION_H
#define REX_INTERNAL_COMPLETION_H

#include "queue/queuestate.h"

/*
 * Wait until all that is in the locked QUEUE now is done; others may put more in meanwhile. 0, or
 * the error that it came to.
 */
int rex_queue_sync_locked(struct rex_queue *queue);

/*
 * After something was put in the locked QUEUE: the same where it was made with REX_QUEUE_STEPWISE.
 */
int rex_queue_sync_if_stepwise(struct rex_queue *queue);

/* 1 if nothing is left to do in the locked QUEUE, 0 if there is, or an error. */
int rex_queue_done_locked(struct rex_queue *queue);

/* Fill in what mappings and modules see of QUEUE. */
void rex_queue_set_pending(struct rex_queue *queue);

#endif
