/*
 * context.h - primary contexts of GPUs and their wait policy; device memory of librex's own.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CONTEXT_H
#define REX_INTERNAL_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/driver.h"

/* ---- primary contexts ------------------------------------------------------------------------ */

/*
 * Retains the primary context of GPU NUMBER in CONTEXT. The context lasts at least until
 * rex_context_drop(). Returns 0 or nonzero; rex_cuda_why() gives the reason.
 */
int rex_context_retain(int number, void **context);
void rex_context_drop(int number);

/*
 * Returns 1 if the primary context of GPU NUMBER is active, 0 if it is not, or -1 on failure;
 * rex_cuda_why() gives the reason. Writes the context's flags to FLAGS, unless FLAGS is NULL.
 */
int rex_context_is_active(int number, unsigned *flags);

/*
 * Activates the primary contexts of the GPUs that an image for sm_ARCHITECTURE suits, with the wait
 * policy of REX_WAIT. Call it before libomptarget activates the contexts. LATER: each context is
 * activated at its first use. One rex_context_unhold() (cuda/launchcontext.h) undoes one call.
 */
void rex_context_activate(unsigned architecture, bool later);

/*
 * Activates the primary context of GPU NUMBER, which must exist. rex_context_unhold() undoes the
 * call.
 */
void rex_context_activate_one(int number);

/*
 * A bit for each GPU whose context is to be activated at its first use. rex_device_offload() and
 * other functions of omp/device.h read it, and activate the context of GPU NUMBER.
 */
extern uint64_t rex_contexts_later;
void rex_context_activate_later(int number);

/*
 * Keeps the context of one GPU for pinned memory, which serves all GPUs. It prefers a GPU whose
 * context is active, otherwise the GPU that this process should use. At least one GPU must exist.
 * Returns the GPU's number, which does not change until all calls are undone by
 * rex_context_unhold().
 */
int rex_context_hold(void);

/*
 * Undoes one call. Only rex_context_unhold() calls this function. Returns true if no other call
 * remains.
 */
bool rex_context_user_ends(void);

/* Returns true if any call that keeps a context is not undone yet. */
bool rex_contexts_are_kept(void);

/* ---- entered --------------------------------------------------------------------------------- */

/*
 * Makes CONTEXT current, if it is not. Returns 1 if rex_context_leave() must undo that, 0 if not,
 * or -1 on failure; rex_cuda_why() gives the reason. rex_context_leave() accepts each of the three.
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
 * The lock of short lists: pinned memory, device memory, lost devices, bases of maps. A thread
 * holds it only to read or change a list. Meanwhile the thread logs nothing and does not call the
 * driver.
 */
void rex_lists_lock(void);
void rex_lists_unlock(void);

/* ---- device memory --------------------------------------------------------------------------- */

/*
 * Takes SIZE bytes, at most half of the address space, on DEVICE, whose context is current. Returns
 * their address, or 0 if memory is short; rex_cuda_why() gives the reason. EXACT: allocates exactly
 * SIZE bytes, and does not keep the block after its use.
 */
uint64_t rex_block_take(struct rex_device *device, size_t size, bool exact);
/*
 * Allocates SIZE bytes on DEVICE, whose context is current, and writes their address to ADDRESS.
 * The caller frees them with cuMemFree. Frees kept blocks if memory is short. Returns 0 or a
 * CUresult that is noted.
 */
int rex_block_allocate(struct rex_device *device, size_t size, uint64_t *address);
/*
 * Gives the block at ADDRESS back to DEVICE, whose context is current. No launch uses it any
 * longer.
 */
void rex_block_give(struct rex_device *device, uint64_t address);
/* Frees the kept blocks of DEVICE, whose context is current. Returns true if any existed. */
bool rex_blocks_free(struct rex_device *device);
/* Frees the kept blocks of all GPUs. Returns true if any existed. */
bool rex_blocks_free_all(void);

#endif
