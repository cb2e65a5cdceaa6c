/*
 * context.h - what is kept of each GPU: its primary context, and device memory of librex's own; how
 * threads wait.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CONTEXT_H
#define REX_INTERNAL_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/driver.h"

/* ---- kept ------------------------------------------------------------------------------------ */

/*
 * The primary context of GPU NUMBER, which lasts until rex_context_drop() at least. 0, or another
 * number with rex_cuda_why().
 */
int rex_context_retain(int number, void **context);
void rex_context_drop(int number);

/*
 * 1 if the primary context of GPU NUMBER is active, whoever made it so; its flags are in FLAGS,
 * which may be NULL. 0 if it is not, -1 with rex_cuda_why().
 */
int rex_context_is_active(int number, unsigned *flags);

/*
 * Activate the primary contexts of the GPUs that an image for sm_ARCHITECTURE suits, before
 * libomptarget does, with the policy asked for; LATER: each when it is first used. Each call is
 * undone by one of rex_context_unhold() (cuda/launchcontext.h).
 */
void rex_context_activate(unsigned architecture, bool later);

/* The same for GPU NUMBER, which there is, alone. */
void rex_context_activate_one(int number);

/*
 * A bit for each GPU whose context is to be activated when it is first used. rex_device_offload()
 * and the like (omp/device.h) look at it, and activate the context of GPU NUMBER.
 */
extern uint64_t rex_contexts_later;
void rex_context_activate_later(int number);

/*
 * Keep the context of one GPU, whoever activated it, for pinned memory, which is for all: of one
 * that is used already, else of the one that this process should use. There is a GPU. Undone
 * likewise; until then it is the same one. Returns its number.
 */
int rex_context_hold(void);

/* For rex_context_unhold() alone. Whether that was the last of these calls. */
bool rex_context_user_ends(void);

/* Whether any of these calls is not undone yet. */
bool rex_contexts_are_kept(void);

/* ---- entered --------------------------------------------------------------------------------- */

/*
 * Make CONTEXT current where it is not: 1 if rex_context_leave() has to undo that, 0 if not, -1
 * with rex_cuda_why(). rex_context_leave() takes all three.
 */
static inline int rex_context_enter(void *context)
{
    void *current = NULL;
    if (__builtin_expect(rex_driver.cuCtxGetCurrent(&current) == 0 && current == context, 1))
        return 0;
    return REX_CUDA(cuCtxPushCurrent, context) == 0 ? 1 : -1;
}

static inline void rex_context_leave(int entered)
{
    void *context;
    if (entered > 0)
        rex_driver.cuCtxPopCurrent(&context);
}

/* ---- the lock of lists ----------------------------------------------------------------------- */

/*
 * The lock of short lists: of pinned memory, device memory that is kept, lost devices, bases of
 * maps. It is held for a look or a change. Nothing is said and the driver is not called
 * under it.
 */
void rex_lists_lock(void);
void rex_lists_unlock(void);

/* ---- device memory --------------------------------------------------------------------------- */

/*
 * SIZE bytes, half of the address space at most, on DEVICE, whose context is current. 0, with
 * rex_cuda_why(), where there are not so many. EXACT: an allocation of this size, which nobody gets
 * after it.
 */
uint64_t rex_block_take(struct rex_device *device, size_t size, bool exact);
/*
 * SIZE bytes likewise in *ADDRESS, which are freed with cuMemFree. Kept blocks are freed if there
 * is too little memory. 0, or another number with rex_cuda_why().
 */
int rex_block_allocate(struct rex_device *device, size_t size, uint64_t *address);
/* Give it back to DEVICE: no launch works with it any more. The context is current. */
void rex_block_give(struct rex_device *device, uint64_t address);
/* Free those kept on DEVICE, whose context is current. Whether there was any. */
bool rex_blocks_free(struct rex_device *device);
/* Free those kept on all GPUs. Whether there was any. */
bool rex_blocks_free_all(void);

#endif
