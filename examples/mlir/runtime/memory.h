/*
 * memory.h - device memory for MLIR's calls, from a pool.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef MLIR_MEMORY_H
#define MLIR_MEMORY_H

#include <rex/queue.h>

/*
 * SIZE bytes of DEVICE for QUEUE, or NULL with rex_last_error(). What was freed in another queue is
 * used again once that queue was waited for.
 */
void *memory_take(size_t size, int device, struct rex_queue *queue);

/* Free what was taken, once all that is in QUEUE is done; false where it was not. */
bool memory_return(void *memory, struct rex_queue *queue);

/* Whether the byte at ADDRESS is in memory that was taken. */
bool memory_is_device(const void *address);

/* All that was put in QUEUE is done. */
void memory_is_idle(const struct rex_queue *queue);

#endif
