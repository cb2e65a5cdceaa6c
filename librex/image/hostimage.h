/*
 * hostimage.h - the reader of host images, shared objects with kernels for the CPU.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_HOSTIMAGE_H
#define REX_INTERNAL_HOSTIMAGE_H

#include "image/elf.h"
#include "image/view.h"

/* Names of rex/kernel.h's own, which are no globals; and its number of threads (rex/openmp.h). */
#define REX_DETAIL_PREFIX "rex_detail_"
#define REX_PROCESSORS_SYMBOL REX_DETAIL_PREFIX "processors"

/*
 * Fill VIEW with the symbols and entries of the host image. 0, or -1 with ELF->why, which is NULL
 * where memory ran out or the view is overfull.
 */
int rex_host_image_read(struct rex_view *view, struct rex_elf *elf);

#endif
