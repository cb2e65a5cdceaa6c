/*
 * cubin.h - reads a CUBIN, and finds its symbols that keep state from one launch to the next.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CUBIN_H
#define REX_INTERNAL_CUBIN_H

#include "image/elf.h"
#include "image/view.h"

/*
 * Returns true if a CUBIN for sm_IMAGE runs on a GPU of compute capability DEVICE. DEVICE has no
 * point: 90 means 9.0.
 */
static inline bool rex_image_suits(unsigned image, unsigned device)
{
    return image / 10 == device / 10 && image % 10 <= device % 10;
}

/*
 * Returns the SM number of the CUBIN of SIZE bytes, such as 90. Returns 0 if the bytes are not a
 * CUBIN.
 */
unsigned rex_cubin_architecture(const void *bytes, size_t size);

/*
 * Fills VIEW with the symbols of the CUBIN. Returns 0, or -1 with the reason in ELF->why. ELF->why
 * is NULL if memory ran out or the view would need more memory than its maximum.
 */
int rex_cubin_read(struct rex_view *view, struct rex_elf *elf);

/* Kinds of symbols that keep state from one launch to the next. */
enum rex_state {
    REX_STATE_NONE,
    REX_STATE_GLOBAL,  /* a global variable; each load of the image has its own copy */
    REX_STATE_RUNTIME, /* a function of LLVM's device runtime */
    REX_STATE_LIBRARY  /* printf, malloc or free of the device */
};

/*
 * Returns the kind of the first symbol that keeps state from one launch to the next. Writes the
 * symbol's name to NAME, cut to REX_STATE_NAME bytes. Returns REX_STATE_NONE if there is no such
 * symbol.
 *
 * The function ignores librex's own globals, whose names begin with `rex_`. It ignores a global
 * that describes a kernel to libomptarget, because the device never reads such a global.
 */
#define REX_STATE_NAME 128
enum rex_state rex_cubin_state(const struct rex_elf *elf, char name[REX_STATE_NAME]);

#endif
