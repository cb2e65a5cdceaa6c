/*
 * jit.h - PTX becomes a CUBIN.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_JIT_H
#define REX_INTERNAL_JIT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Compile the PTX of SIZE bytes, behind which there is a NUL, for GPU number GPU, or take what was
 * made of it before from the cache. *CUBIN gets bytes of malloc(). *HELD gets whether the GPU's
 * context was activated for it: it is the caller's to end, with rex_context_unhold(). 0;
 * REX_EIMAGE, with what the compiler says; REX_ECUDA; REX_ENOMEM. NAME is what messages call the
 * image.
 */
int rex_jit(const unsigned char *ptx, size_t size, int gpu, const char *name, unsigned char **cubin,
            size_t *cubin_size, bool *held);

#endif
