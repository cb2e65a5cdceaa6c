/*
 * context.c - activates primary contexts of GPUs with a wait policy, and allocates device memory
 * for librex itself.
 *
 * libomptarget (LLVM 14 to 23) sets CU_CTX_SCHED_BLOCKING_SYNC on a primary context that is not
 * active yet. It does not change the flags of an active context. On an H100 a launch and its wait
 * take 22 to 36 us with that flag. They take 10 to 11 us if the context was activated with another
 * policy.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "cuda/context.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "image/cubin.h"

/* The context flags of each wait policy. REX_WAIT_RUNTIME has the flag that libomptarget sets. */
static const unsigned flags_of[] = {[REX_WAIT_AUTO] = 0x0,
                                    [REX_WAIT_SPIN] = 0x1,
                                    [REX_WAIT_YIELD] = 0x2,
                                    [REX_WAIT_BLOCK] = 0x4,
                                    [REX_WAIT_RUNTIME] = 0x4};

uint64_t rex_contexts_later;

/*
 * `contexts`, rex_contexts_later and `is_held` of each GPU are written under rex_load_lock(). A
 * child of fork cannot use the driver, and does not read these variables.
 */
static struct {
    /*
     * number of calls of rex_context_activate(), rex_context_activate_one() and rex_context_hold(),
     * minus the number of calls of rex_context_user_ends(); also read without the lock
     */
    int users;
    int home; /* number of the GPU in whose context memory is pinned, plus 1; 0: none */
} contexts;

/* ---- the driver's calls ---------------------------------------------------------------------- */

int rex_context_is_active(int number, unsigned *flags)
{
    unsigned unused;
    int device, active;
    if (rex_cuda_handle(number, &device) != 0)
        return -1;
    if (flags == NULL)
        flags = &unused;
    if (REX_CUDA(cuDevicePrimaryCtxGetState, device, flags, &active) != 0)
        return -1;
    return active;
}

int rex_context_retain(int number, void **context)
{
    int device, result = rex_cuda_handle(number, &device);
    if (result != 0)
        return result;
    return REX_CUDA(cuDevicePrimaryCtxRetain, context, device);
}

static int retain_with_flags(int number, unsigned flags)
{
    int device;
    void *context;
    if (rex_cuda_handle(number, &device) != 0 ||
        REX_CUDA(cuDevicePrimaryCtxSetFlags, device, flags) != 0)
        return -1;
    return rex_context_retain(number, &context);
}

void rex_context_drop(int number)
{
    int device;
    if (rex_cuda_handle(number, &device) == 0)
        REX_CUDA(cuDevicePrimaryCtxRelease, device);
}

/* ---- the policy ------------------------------------------------------------------------------ */

/*
 * Activates the contexts of the GPUs whose bits are set in WANTED. Skips contexts that librex has
 * retained already.
 */
static void activate_contexts(uint64_t wanted)
{
    int wait = rex_setting_read(REX_OPTION_WAIT);
    /* The last user releases the contexts. Without a user, no call would release them. */
    REX_ASSERT(contexts.users > 0 || wanted == 0);
    for (int i = 0; wait != REX_WAIT_RUNTIME && i < rex_cuda_devices(); i++) {
        unsigned flags = 0;
        if ((wanted >> i & 1) == 0 || rex_devices[i].is_held)
            continue;
        int state = rex_context_is_active(i, &flags);
        if (state < 0)
            rex_log(REX_LOG_WARN, "GPU %d: its context cannot be examined: %s", i, rex_cuda_why());
        else if (state > 0)
            rex_log(
                REX_LOG_INFO,
                "GPU %d: its context is active already, with flags 0x%x: REX_WAIT has no effect "
                "on it",
                i, flags);
        else if (retain_with_flags(i, flags_of[wait]) != 0)
            rex_log(REX_LOG_WARN, "GPU %d: REX_WAIT could not take effect: %s", i, rex_cuda_why());
        else {
            rex_devices[i].is_held = true;
            rex_log(REX_LOG_INFO, "GPU %d: its context is activated with flags 0x%x", i,
                    flags_of[wait]);
        }
    }
}

void rex_context_activate(unsigned architecture, bool later)
{
    uint64_t wanted = 0;
    if (rex_cuda_devices() == 0)
        return;
    for (int i = 0; i < rex_cuda_devices(); i++)
        wanted |= (uint64_t)rex_image_suits(architecture, rex_cuda_architecture(i)) << i;
    rex_load_lock();
    __atomic_add_fetch(&contexts.users, 1, __ATOMIC_SEQ_CST);
    if (later)
        __atomic_fetch_or(&rex_contexts_later, wanted, __ATOMIC_RELEASE);
    else
        activate_contexts(wanted);
    rex_load_unlock();
}

void rex_context_activate_one(int number)
{
    rex_load_lock();
    __atomic_add_fetch(&contexts.users, 1, __ATOMIC_SEQ_CST);
    activate_contexts(UINT64_C(1) << number);
    rex_load_unlock();
}

/*
 * Clears the bit only after the activation. A thread that finds the bit cleared calls libomptarget
 * at once, without the lock. If the context were not active yet, libomptarget would activate it
 * with other flags.
 */
void rex_context_activate_later(int number)
{
    uint64_t bit = UINT64_C(1) << number;
    rex_load_lock();
    activate_contexts(rex_contexts_later & bit);
    __atomic_fetch_and(&rex_contexts_later, ~bit, __ATOMIC_RELEASE);
    rex_load_unlock();
}

int rex_context_hold(void)
{
    unsigned flags = 0;
    rex_load_lock();
    REX_ASSERT(contexts.users > 0 || contexts.home == 0);
    __atomic_add_fetch(&contexts.users, 1, __ATOMIC_SEQ_CST);
    if (contexts.home == 0) {
        /*
         * Prefer a GPU whose context is active, so that pinned memory activates no other context.
         */
        int own = rex_launcher_device(rex_cuda_devices());
        int chosen = own < rex_cuda_devices() ? own : 0;
        for (int i = 0; i < rex_cuda_devices() && rex_context_is_active(chosen, NULL) <= 0; i++)
            if (rex_context_is_active(i, NULL) > 0)
                chosen = i;
        contexts.home = chosen + 1;
    }
    int number = contexts.home - 1;
    struct rex_device *device = &rex_devices[number];
    /*
     * Retain the context even if it is active already. If librex did not retain it, the context
     * could end before the memory that is pinned in it.
     */
    int state = device->is_held ? -1 : rex_context_is_active(number, &flags);
    if (state == 0)
        flags = flags_of[rex_setting_read(REX_OPTION_WAIT)];
    if (state >= 0)
        device->is_held = retain_with_flags(number, flags) == 0;
    rex_load_unlock();
    return number;
}

bool rex_contexts_are_kept(void)
{
    return __atomic_load_n(&contexts.users, __ATOMIC_SEQ_CST) > 0;
}

/*
 * Unlocks before it releases the contexts. At the last release of a context the driver waits for
 * the kernels and copies of the context. If the thread still had the lock, other threads would wait
 * for the lock during the driver's wait. Without the lock, another thread may retain the context
 * during the driver's wait. In that case the context is still active, with an unchanged wait
 * policy.
 */
bool rex_context_user_ends(void)
{
    uint64_t held = 0;
    if (rex_cuda_devices() == 0)
        return false;
    rex_load_lock();
    int users = __atomic_sub_fetch(&contexts.users, 1, __ATOMIC_SEQ_CST);
    bool is_last = users == 0;
    REX_ASSERT(users >= 0);
    if (is_last) {
        __atomic_store_n(&rex_contexts_later, 0, __ATOMIC_RELEASE);
        contexts.home = 0;
        for (int i = 0; i < rex_cuda_devices(); i++) {
            held |= (uint64_t)rex_devices[i].is_held << i;
            rex_devices[i].is_held = false;
        }
    }
    rex_load_unlock();
    for (int i = 0; i < rex_cuda_devices(); i++)
        if (held >> i & 1)
            rex_context_drop(i);
    return is_last;
}

/* ---- the lock of lists ----------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
REX_FORK_TAKEN(68, NULL);

void rex_lists_lock(void)
{
    pthread_mutex_lock(&lock);
}

void rex_lists_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* ---- device memory --------------------------------------------------------------------------- */

#define KEPT_MOST ((size_t)256 << 20) /* maximum bytes that are kept on each GPU */

struct rex_block {
    struct rex_block *next;
    uint64_t address;
    size_t size;
    bool is_taken; /* in use; if false, kept for a later call */
    bool is_exact; /* freed after its use, not kept */
};

static void push_block(struct rex_block **list, struct rex_block *block)
{
    block->next = *list;
    *list = block;
}

/*
 * Removes the oldest kept blocks from DEVICE's list, until at most MOST kept bytes remain. Returns
 * a list of the removed blocks.
 */
static struct rex_block *shed_blocks(struct rex_device *device, size_t most)
{
    struct rex_block *out = NULL, **at = &device->blocks;
    size_t sum = 0;
    while (*at != NULL) {
        struct rex_block *block = *at;
        REX_ASSERT(block->is_taken || !block->is_exact);
        if (!block->is_taken)
            sum += block->size;
        if (block->is_taken || sum <= most) {
            at = &block->next;
            continue;
        }
        *at = block->next;
        push_block(&out, block);
    }
    return out;
}

/* Frees the blocks of the list OUT. Returns true if the list was not empty. */
static bool free_kept_blocks(struct rex_block *out)
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
    struct rex_block *out = shed_blocks(device, 0);
    rex_lists_unlock();
    return free_kept_blocks(out);
}

bool rex_blocks_free_all(void)
{
    bool freed = false;
    for (int i = 0; i < rex_cuda_devices(); i++) {
        void *context;
        if (rex_context_is_active(i, NULL) <= 0 || rex_context_retain(i, &context) != 0)
            continue;
        int entered = rex_context_enter(context);
        freed |= entered >= 0 && rex_blocks_free(&rex_devices[i]);
        rex_context_leave(entered);
        rex_context_drop(i);
    }
    return freed;
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
    struct rex_block *block = NULL;
    if (!exact) {
        /* Find a kept block of at least SIZE bytes, and at most about twice SIZE. */
        rex_lists_lock();
        block = device->blocks;
        while (block != NULL && (block->is_taken || block->size < size || block->size / 2 > size))
            block = block->next;
        REX_ASSERT(block == NULL || (block->size >= size && !block->is_exact));
        if (block != NULL)
            block->is_taken = true;
        rex_lists_unlock();
        if (block != NULL)
            return block->address;
        /* Round up, so that a later launch that needs a little more can use the block. */
        size_t step = 512;
        while (step < size / 16)
            step *= 2;
        size = (size + step - 1) / step * step;
    }
    block = malloc(sizeof *block);
    if (block == NULL) {
        rex_cuda_note(REX_CUDA_OUT_OF_MEMORY, "malloc");
        return 0;
    }
    *block = (struct rex_block){.size = size, .is_taken = true, .is_exact = exact};
    if (rex_block_allocate(device, block->size, &block->address) != 0) {
        free(block);
        return 0;
    }
    rex_lists_lock();
    push_block(&device->blocks, block);
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
        struct rex_block *block = *at;
        REX_ASSERT(block->is_taken);
        *at = block->next;
        block->is_taken = false;
        if (block->is_exact)
            push_block(&out, block);
        else {
            push_block(blocks, block);
            out = shed_blocks(device, KEPT_MOST);
        }
    }
    rex_lists_unlock();
    free_kept_blocks(out);
}
