/*
 * cubin.h - read a CUBIN.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CUBIN_H
#define REX_INTERNAL_CUBIN_H

#include "image/elf.h"
#include "image/view.h"

/* Whether a CUBIN for sm_IMAGE runs on a GPU of compute capability DEVICE, both as 90 for 9.0. */
static inline bool rex_image_suits(unsigned image, unsigned device)
{
    return image / 10 == device / 10 && image % 10 <= device % 10;
}

/* The SM number that the CUBIN of SIZE bytes is for: 90; 0 if it is none. */
unsigned rex_cubin_architecture(const void *bytes, size_t size);

/* Fill VIEW with what is in the CUBIN. 0, or -1 with ELF->why, which is NULL where
 * memory ran out or the view is overfull. */
int rex_cubin_read(struct rex_view *view, struct rex_elf *elf);

#endif
