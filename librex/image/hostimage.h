/*
 * hostimage.h - the reader of host images. A host image is a shared object with kernels for the
 * CPU.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_HOSTIMAGE_H
#define REX_INTERNAL_HOSTIMAGE_H

#include "image/elf.h"
#include "image/view.h"

/*
 * REX_DETAIL_PREFIX is the prefix of the names that rex/kernel.h defines. Variables with such names
 * are not globals of the program. The variable called REX_PROCESSORS_SYMBOL has the maximum number
 * of threads for a loop in the image (rex/openmp.h).
 */
#define REX_DETAIL_PREFIX "rex_detail_"
#define REX_PROCESSORS_SYMBOL REX_DETAIL_PREFIX "processors"

/*
 * Fills VIEW with the symbols and entries of the host image. Returns 0, or -1 with the reason in
 * ELF->why. ELF->why is NULL if memory ran out, or if the view would need more than `most` bytes.
 */
int rex_host_image_read(struct rex_view *view, struct rex_elf *elf);

#endif
