/*
 * blocks.c - device memory of librex's own, kept from one launch to the next: cuMemAlloc and
 * cuMemFree take longer than most kernels, and wait for the device.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/blocks.h"

#include <stdlib.h>

#include "cuda/context.h"
#include "cuda/pinned.h"

#define KEPT_MOST ((size_t)256 << 20) /* bytes that are kept on each GPU */

struct rex_block {
    struct rex_block *next;
    uint64_t address;
    size_t size;
    bool is_taken; /* else it is kept */
    bool is_exact; /* never kept */
};

static void push(struct rex_block **list, struct rex_block *block)
{
    block->next = *list;
    *list = block;
}

static struct rex_block *take_out(struct rex_block **at)
{
    struct rex_block *block = *at;
    *at = block->next;
    return block;
}

/* Takes out what is kept of DEVICE beyond MOST bytes: the oldest. */
static struct rex_block *shed(struct rex_device *device, size_t most)
{
    struct rex_block *out = NULL, **at = &device->blocks;
    size_t sum = 0;
    while (*at != NULL) {
        bool is_kept = !(*at)->is_taken;
        if (is_kept)
            sum += (*at)->size;
        if (is_kept && sum > most)
            push(&out, take_out(at));
        else
            at = &(*at)->next;
    }
    return out;
}

/* Whether there was any. */
static bool free_all(struct rex_block *out)
{
    bool any = out != NULL;
    while (out != NULL) {
        struct rex_block *next = out->next;
        REX_CUDA(cuMemFree, out->address);
        free(out);
        out = next;
    }
    return any;
}

bool rex_blocks_free(struct rex_device *device)
{
    rex_lists_lock();
    struct rex_block *out = shed(device, 0);
    rex_lists_unlock();
    return free_all(out);
}

bool rex_blocks_free_all(void)
{
    bool freed = false;
    for (int i = 0; i < rex_cuda_devices(); i++) {
        void *context;
        if (!rex_context_is_active(i) || rex_context_retain(i, &context) != 0)
            continue;
        int entered = rex_context_enter(context);
        freed |= entered >= 0 && rex_blocks_free(&rex_devices[i]);
        rex_context_leave(entered);
        rex_context_drop(i);
    }
    return freed;
}

/* One that is kept, large enough, and at most twice as large. */
static struct rex_block *reuse(struct rex_device *device, size_t size)
{
    rex_lists_lock();
    struct rex_block *block = device->blocks;
    while (block != NULL && (block->is_taken || block->size < size || block->size / 2 > size))
        block = block->next;
    if (block != NULL)
        block->is_taken = true;
    rex_lists_unlock();
    return block;
}

/* A launch with a little more the next time finds it large enough. */
static size_t round_up(size_t size)
{
    size_t step = 512;
    while (step < size / 16)
        step *= 2;
    return (size + step - 1) / step * step;
}

int rex_block_allocate(struct rex_device *device, size_t size, uint64_t *address)
{
    int result = REX_CUDA(cuMemAlloc, address, size);
    if (result == REX_CUDA_OUT_OF_MEMORY) {
        rex_blocks_free(device);
        result = REX_CUDA(cuMemAlloc, address, size);
    }
    return result;
}

uint64_t rex_block_take(struct rex_device *device, size_t size, bool exact)
{
    struct rex_block *block = exact ? NULL : reuse(device, size);
    if (block != NULL)
        return block->address;
    block = malloc(sizeof *block);
    if (block == NULL) {
        rex_cuda_note(REX_CUDA_OUT_OF_MEMORY, "malloc");
        return 0;
    }
    *block = (struct rex_block){
        .size = exact ? size : round_up(size), .is_taken = true, .is_exact = exact};
    if (rex_block_allocate(device, block->size, &block->address) != 0) {
        free(block);
        return 0;
    }
    rex_lists_lock();
    push(&device->blocks, block);
    rex_lists_unlock();
    return block->address;
}

void rex_block_give(struct rex_device *device, uint64_t address)
{
    struct rex_block **blocks = &device->blocks, **at = blocks, *out = NULL;
    rex_lists_lock();
    while (*at != NULL && (*at)->address != address)
        at = &(*at)->next;
    if (*at != NULL) {
        struct rex_block *block = take_out(at);
        block->is_taken = false;
        if (block->is_exact)
            push(&out, block);
        else {
            push(blocks, block);
            out = shed(device, KEPT_MOST);
        }
    }
    rex_lists_unlock();
    free_all(out);
}
