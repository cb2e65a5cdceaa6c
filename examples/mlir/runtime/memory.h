/*
 * memory.h - a pool of device memory for MLIR's calls.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef MLIR_MEMORY_H
#define MLIR_MEMORY_H

#include <rex/queue.h>

/*
 * Returns SIZE bytes on QUEUE's device, for use in QUEUE. Memory freed in another queue is used
 * again after a wait for that queue. Returns NULL on failure: with *IS_SHORT if memory of the host
 * is short, else with rex_last_error().
 */
void *memory_take(size_t size, struct rex_queue *queue, bool *is_short);

/* Frees MEMORY after all commands in QUEUE. Returns false if memory_take() has not returned it. */
bool memory_return(void *memory, struct rex_queue *queue);

/* Returns the device of the byte at ADDRESS, or -1 if it is in no block of memory_take(). */
int memory_device(const void *address);

/* Records that all commands in QUEUE are done, so that any queue may use its freed blocks. */
void memory_is_idle(const struct rex_queue *queue);

#endif
