/*
 * gpu.h - the NVIDIA GPUs, as the driver describes them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_GPU_H
#define REX_INTERNAL_GPU_H

#include <stdint.h>

/* The most shared memory of a block on any GPU here, in bytes; 0: the driver does not say. */
uint64_t rex_gpu_most_shared_memory(void);

/* The most threads that any GPU here keeps resident at once; 0 likewise. */
uint64_t rex_gpu_most_resident_threads(void);

#endif
