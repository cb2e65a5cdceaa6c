/*
 * memory.h - device memory for MLIR's calls, from a pool.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef MLIR_MEMORY_H
#define MLIR_MEMORY_H

#include <rex/queue.h>

/*
 * SIZE bytes of QUEUE's device for it, or NULL with rex_last_error(). Memory freed in another queue
 * is used again once that queue was waited for.
 */
void *memory_take(size_t size, struct rex_queue *queue);

/* Free what was taken, once all that is in QUEUE is done; false where it was not. */
bool memory_return(void *memory, struct rex_queue *queue);

/* The number of the device of which the byte at ADDRESS was taken; -1: of none. */
int memory_device(const void *address);

/* All that was put in QUEUE is done. */
void memory_is_idle(const struct rex_queue *queue);

#endif
