/*
 * state.h - what a CUBIN keeps from one launch to the next, and what it asks of its runtime.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_STATE_H
#define REX_INTERNAL_STATE_H

#include "image/elf.h"

enum rex_state {
    REX_STATE_NONE,
    REX_STATE_GLOBAL,  /* a global, of which each load of the image has one of its own */
    REX_STATE_RUNTIME, /* LLVM's device runtime, */
    REX_STATE_LIBRARY  /* or printf, malloc or free of the device */
};

/*
 * The first that the CUBIN has, and in NAME, of REX_STATE_NAME bytes, what it is called there.
 * Globals whose names begin with `rex_` are librex's own, and those that tell libomptarget how to
 * launch a kernel are never read on the device: neither counts.
 */
#define REX_STATE_NAME 128
enum rex_state rex_cubin_state(const struct rex_elf *elf, char name[REX_STATE_NAME]);

#endif
