/*
 * blocks.h - device memory of librex's own, kept from one launch to the next.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BLOCKS_H
#define REX_INTERNAL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rex_device;

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
