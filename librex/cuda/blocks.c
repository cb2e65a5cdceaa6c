/*
 * blocks.c - device memory of librex's own, kept from one launch to the next: cuMemAlloc and
 * cuMemFree take longer than most kernels, and wait for the device.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/blocks.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/log.h"
#include "cuda/context.h"

#define KEPT_MOST ((size_t)256 << 20) /* bytes that are kept on each GPU */

struct block {
    struct block *next;
    uint64_t address;
    size_t size;
    int ordinal;
    bool is_exact;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
REX_FORK_UNREACHED("nobody takes it without a driver, and a child has none");
static struct block *taken, *kept;              /* the one given back last is the first */
static size_t kept_bytes[REX_CUDA_DEVICES_MAX]; /* of each GPU */

static void push(struct block **list, struct block *block)
{
    block->next = *list;
    *list = block;
}

static struct block *take_out(struct block **at)
{
    struct block *block = *at;
    *at = block->next;
    return block;
}

/* Large enough, and at most twice as large. */
static struct block **find_kept(int ordinal, size_t size)
{
    struct block **at = &kept;
    while (*at != NULL &&
           ((*at)->ordinal != ordinal || (*at)->size < size || (*at)->size / 2 > size))
        at = &(*at)->next;
    return at;
}

static struct block *reuse(int ordinal, size_t size)
{
    rex_lock(&lock);
    struct block **at = find_kept(ordinal, size), *block = *at != NULL ? take_out(at) : NULL;
    if (block != NULL) {
        kept_bytes[ordinal] -= block->size;
        push(&taken, block);
    }
    rex_unlock(&lock);
    return block;
}

static void free_all(struct block *blocks)
{
    while (blocks != NULL) {
        struct block *next = blocks->next;
        REX_CUDA(cuMemFree, blocks->address);
        free(blocks);
        blocks = next;
    }
}

/* Of GPU ORDINAL, until at most MOST bytes are kept; the oldest first. */
static struct block *shed(int ordinal, size_t most)
{
    struct block *out = NULL, **oldest = NULL;
    while (kept_bytes[ordinal] > most) {
        for (struct block **at = &kept; *at != NULL; at = &(*at)->next)
            if ((*at)->ordinal == ordinal)
                oldest = at;
        kept_bytes[ordinal] -= (*oldest)->size;
        push(&out, take_out(oldest));
    }
    return out;
}

void rex_blocks_free(int ordinal)
{
    rex_lock(&lock);
    struct block *out = shed(ordinal, 0);
    rex_unlock(&lock);
    free_all(out);
}

static bool are_kept(int ordinal)
{
    rex_lock(&lock);
    bool some = kept_bytes[ordinal] > 0;
    rex_unlock(&lock);
    return some;
}

bool rex_blocks_free_all(void)
{
    bool freed = false;
    for (int i = 0; i < rex_cuda_devices(); i++) {
        void *context;
        if (!are_kept(i) || rex_context_retain(i, &context) != 0)
            continue;
        int entered = rex_context_enter(context);
        if (entered >= 0)
            rex_blocks_free(i);
        freed |= entered >= 0;
        rex_context_leave(entered);
        rex_context_drop(i);
    }
    return freed;
}

/* A launch with a little more the next time finds it large enough. */
static size_t round_up(size_t size)
{
    size_t step = 512;
    while (step < size / 16)
        step *= 2;
    return (size + step - 1) / step * step;
}

static struct block *make(int ordinal, size_t size, bool exact)
{
    struct block *block = malloc(sizeof *block);
    if (block == NULL) {
        rex_cuda_note(REX_CUDA_OUT_OF_MEMORY, "malloc");
        return NULL;
    }
    *block = (struct block){
        .size = exact ? size : round_up(size), .ordinal = ordinal, .is_exact = exact};
    int result = REX_CUDA(cuMemAlloc, &block->address, block->size);
    if (result == REX_CUDA_OUT_OF_MEMORY) {
        rex_blocks_free(ordinal);
        block->size = size;
        result = REX_CUDA(cuMemAlloc, &block->address, block->size);
    }
    if (result == 0)
        return block;
    free(block);
    return NULL;
}

uint64_t rex_block_take(int ordinal, size_t size, bool exact)
{
    struct block *block = exact ? NULL : reuse(ordinal, size);
    if (block != NULL)
        return block->address;
    block = make(ordinal, size, exact);
    if (block == NULL)
        return 0;
    rex_lock(&lock);
    push(&taken, block);
    rex_unlock(&lock);
    return block->address;
}

void rex_block_give(uint64_t address)
{
    rex_lock(&lock);
    struct block **at = &taken, *out = NULL;
    while (*at != NULL && (*at)->address != address)
        at = &(*at)->next;
    if (*at != NULL) {
        struct block *block = take_out(at);
        kept_bytes[block->ordinal] += block->is_exact ? 0 : block->size;
        push(block->is_exact ? &out : &kept, block);
        if (!block->is_exact)
            out = shed(block->ordinal, KEPT_MOST);
    }
    rex_unlock(&lock);
    free_all(out);
}
