/*
 * fill.h - fills device memory with a pattern.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_FILL_H
#define REX_INTERNAL_FILL_H

#include <stddef.h>
#include <stdint.h>

struct rex_fill {
    void *to;
    uint32_t value;     /* the low `width` bytes are the pattern */
    size_t width, size; /* size of the pattern, and size of the memory, in bytes */
};

/*
 * Checks the arguments of the public function CALLER, and stores them in FILL. Returns 0 or
 * REX_EINVAL.
 */
int rex_fill_of(struct rex_fill *fill, const char *caller, void *to, const void *pattern,
                size_t pattern_size, size_t size);

/* Puts FILL in STREAM. Returns 0, or an error of the driver, which rex_cuda_why() describes. */
int rex_fill_put(const struct rex_fill *fill, void *stream);

/* Fills the memory on DEVICE, and waits until it is filled. Returns 0 or an error. */
int rex_fill_now(const struct rex_fill *fill, int64_t device, const char *caller);

#endif
