/*
 * hostimage.h - read a host shared object.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_HOSTIMAGE_H
#define REX_INTERNAL_HOSTIMAGE_H

#include "image/elf.h"
#include "image/view.h"

/* Fill VIEW with what is in the host image. 0, or -1 with ELF->why, NULL where memory ran out. */
int rex_host_image_read(struct rex_image_view *view, struct rex_elf *elf);

#endif
