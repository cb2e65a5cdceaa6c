/*
 * context.h - activates primary contexts of GPUs with a wait policy, and allocates device memory
 * for librex itself.
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
 * Retains the primary context of GPU NUMBER, and writes it to CONTEXT. The context lasts at least
 * until rex_context_drop(). Returns 0, or nonzero on failure; rex_cuda_why() gives the reason.
 */
int rex_context_retain(int number, void **context);
void rex_context_drop(int number);

/*
 * Returns 1 if the primary context of GPU NUMBER is active, otherwise 0. Returns -1 on failure;
 * rex_cuda_why() gives the reason. Writes the context's flags to FLAGS, unless FLAGS is NULL.
 */
int rex_context_is_active(int number, unsigned *flags);

/*
 * Activates the primary contexts of the GPUs that an image for sm_ARCHITECTURE suits, with the wait
 * policy of REX_WAIT. Call this function before libomptarget activates the contexts. If LATER is
 * true, the first use of each GPU activates its context. One rex_context_unhold()
 * (cuda/launchcontext.h) undoes one call.
 */
void rex_context_activate(unsigned architecture, bool later);

/*
 * Activates the primary context of GPU NUMBER. The GPU must exist. rex_context_unhold() undoes the
 * call.
 */
void rex_context_activate_one(int number);

/*
 * A bit for each GPU whose context is activated only at the GPU's first use. rex_device_offload()
 * and other functions of omp/device.h call rex_context_activate_later() for a GPU whose bit is set.
 */
extern uint64_t rex_contexts_later;
void rex_context_activate_later(int number);

/*
 * Keeps the context of one GPU active, and returns the GPU's number. librex pins memory for all
 * GPUs in this context. Chooses a GPU whose context is active, otherwise the GPU of
 * rex_launcher_device() (base/process.h). At least one GPU must exist. The choice does not change
 * while rex_contexts_are_kept() returns true.
 */
int rex_context_hold(void);

/*
 * Undoes one call of rex_context_activate(), rex_context_activate_one() or rex_context_hold(). Only
 * rex_context_unhold() calls this function. Returns true if all earlier calls of these three
 * functions are undone.
 */
bool rex_context_user_ends(void);

/*
 * Returns true if a call of rex_context_activate(), rex_context_activate_one() or
 * rex_context_hold() is not undone yet.
 */
bool rex_contexts_are_kept(void);

/* ---- the current context --------------------------------------------------------------------- */

/*
 * Makes CONTEXT current. Returns 0 if CONTEXT was current already, and 1 if this call made it
 * current. Returns -1 on failure; rex_cuda_why() gives the reason. rex_context_leave() takes the
 * result, and undoes the call if the result is 1.
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
 * One lock guards the lists of pinned memory and of device memory, the marks of lost devices, and
 * the list of overwritten bases of maps (memory/data.c). A thread holds the lock only to read or
 * change these data. Meanwhile the thread logs nothing and does not call the driver.
 */
void rex_lists_lock(void);
void rex_lists_unlock(void);

/* ---- device memory --------------------------------------------------------------------------- */

/*
 * Takes a block of SIZE bytes of device memory on DEVICE. SIZE must be at most half of the address
 * space. The context of DEVICE must be current. If EXACT is true, the block is new and has exactly
 * SIZE bytes. If EXACT is false, the block may be larger, and may be a kept block: a block that
 * rex_block_give() has kept for later calls. Returns the block's address, or 0 on failure;
 * rex_cuda_why() gives the reason.
 */
uint64_t rex_block_take(struct rex_device *device, size_t size, bool exact);
/*
 * Allocates SIZE bytes on DEVICE and writes their address to *ADDRESS. The context of DEVICE must
 * be current. The caller must free the memory with cuMemFree. If memory is short, frees the kept
 * blocks of DEVICE and tries again. Returns 0 or a CUresult; rex_cuda_why() gives the reason.
 */
int rex_block_allocate(struct rex_device *device, size_t size, uint64_t *address);
/*
 * Gives the block at ADDRESS back to DEVICE. The context of DEVICE must be current, and no launch
 * may still use the block. If EXACT was true in the call of rex_block_take(), frees the block. If
 * EXACT was false, keeps the block for a later rex_block_take(). Frees the oldest kept blocks if
 * all kept blocks of DEVICE together exceed 256 MiB.
 */
void rex_block_give(struct rex_device *device, uint64_t address);
/*
 * Frees the kept blocks of DEVICE. The context of DEVICE must be current. Returns true if there
 * were kept blocks.
 */
bool rex_blocks_free(struct rex_device *device);
/* Frees the kept blocks of all GPUs. Returns true if there were kept blocks. */
bool rex_blocks_free_all(void);

#endif
