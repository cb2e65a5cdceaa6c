/*
 * ptx.h - reads PTX, NVIDIA's portable assembly.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_PTX_H
#define REX_INTERNAL_PTX_H

#include <stdbool.h>

#include "image/view.h"

/* Maximum number of bytes from the first byte of the PTX to the end of .target, with comments. */
#define REX_PTX_HEAD ((size_t)65536)

/*
 * Returns true if the SIZE bytes are PTX. PTX begins with .version and .target; comments may come
 * before them. Reads only the first REX_PTX_HEAD bytes. *ARCHITECTURE becomes 90 for sm_90. *SUFFIX
 * becomes 'a' for sm_90a, 'f' for sm_100f, otherwise 0.
 */
bool rex_ptx_is(const void *bytes, size_t size, unsigned *architecture, char *suffix);

/*
 * Fills VIEW with the kernels and globals of the PTX. Returns 0, or -1 if memory ran out or the
 * view would need more memory than its maximum.
 */
int rex_ptx_read(struct rex_view *view, const void *bytes, size_t size);

#endif
