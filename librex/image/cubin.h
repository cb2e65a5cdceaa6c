/*
 * cubin.h - read a CUBIN, and tell what it keeps from one launch to the next.
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

/*
 * Fill VIEW with the symbols of the CUBIN. 0, or -1 with ELF->why, which is NULL where memory ran
 * out or the view is overfull.
 */
int rex_cubin_read(struct rex_view *view, struct rex_elf *elf);

enum rex_state {
    REX_STATE_NONE,
    REX_STATE_GLOBAL,  /* a global, of which each load of the image has one of its own */
    REX_STATE_RUNTIME, /* LLVM's device runtime, */
    REX_STATE_LIBRARY  /* or printf, malloc or free of the device */
};

/*
 * The first state that the CUBIN has, and in NAME the symbol's name, cut off to REX_STATE_NAME
 * bytes. Globals whose names begin with `rex_` are librex's own and do not count. Neither do those
 * that tell libomptarget how to launch a kernel: the device never reads them.
 */
#define REX_STATE_NAME 128
enum rex_state rex_cubin_state(const struct rex_elf *elf, char name[REX_STATE_NAME]);

#endif
