/*
 * ptx.h - PTX, NVIDIA's portable assembly.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PTX_H
#define REX_INTERNAL_PTX_H

#include <stdbool.h>

#include "image/view.h"

/* Bytes in which PTX says what it is, behind any comment. */
#define REX_PTX_HEAD ((size_t)65536)

/*
 * Whether the SIZE bytes are PTX: they begin with .version and .target, apart from comments. Only
 * the first REX_PTX_HEAD bytes are looked at. *ARCHITECTURE gets 90 for sm_90. *SUFFIX gets 'a' for
 * sm_90a, 'f' for sm_100f, else 0.
 */
bool rex_ptx_is(const void *bytes, size_t size, unsigned *architecture, char *suffix);

/*
 * Fill VIEW with the kernels and globals of the PTX. 0, or -1: out of memory, or ->overfull.
 */
int rex_ptx_read(struct rex_view *view, const void *bytes, size_t size);

#endif
