/*
 * memory.c - a pool of device memory for MLIR's calls, because lowered code allocates and frees in
 * every call of a function. The pool keeps its memory until the process ends.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include <rex/device.h>

struct block {
    struct block *next;
    char *address;
    size_t size;
    int device;
    bool taken;
    const struct rex_queue *queue; /* of a free block: the queue that may still use it, or NULL */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;

/* Rounds up, so that similar sizes share blocks. From 2 KiB on this adds less than a quarter. */
static size_t round_up(size_t size)
{
    size_t step = 512;
    while (step * 8 <= size)
        step *= 2;
    return (size + step - 1) / step * step;
}

static struct block *find_free(size_t size, int device, const struct rex_queue *queue)
{
    for (struct block *block = blocks; block != NULL; block = block->next)
        if (!block->taken && block->size == size && block->device == device &&
            (block->queue == NULL || block->queue == queue))
            return block;
    return NULL;
}

static struct block *new_block(size_t size, int device, bool *is_short)
{
    struct block *block = calloc(1, sizeof *block);
    *is_short = block == NULL;
    if (block == NULL)
        return NULL;
    *block = (struct block){NULL, rex_device_alloc(size, device), size, device, false, NULL};
    if (block->address == NULL) {
        free(block);
        return NULL;
    }
    block->next = blocks;
    blocks = block;
    return block;
}

void *memory_take(size_t size, struct rex_queue *queue, bool *is_short)
{
    int device = rex_queue_device(queue);
    size_t rounded = round_up(size > 0 ? size : 1);
    pthread_mutex_lock(&lock);
    struct block *block = find_free(rounded, device, queue);
    if (block == NULL)
        block = new_block(rounded, device, is_short);
    if (block != NULL)
        block->taken = true;
    pthread_mutex_unlock(&lock);
    return block != NULL ? block->address : NULL;
}

bool memory_return(void *memory, struct rex_queue *queue)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (struct block *block = blocks; block != NULL && !found; block = block->next)
        if (block->taken && block->address == memory) {
            block->taken = false;
            block->queue = queue;
            found = true;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

int memory_device(const void *address)
{
    int device = -1;
    pthread_mutex_lock(&lock);
    for (const struct block *block = blocks; block != NULL && device < 0; block = block->next)
        if (block->taken && (uintptr_t)address - (uintptr_t)block->address < block->size)
            device = block->device;
    pthread_mutex_unlock(&lock);
    return device;
}

void memory_is_idle(const struct rex_queue *queue)
{
    pthread_mutex_lock(&lock);
    for (struct block *block = blocks; block != NULL; block = block->next)
        if (block->queue == queue)
            block->queue = NULL;
    pthread_mutex_unlock(&lock);
}
