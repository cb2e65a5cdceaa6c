/*
 * code.h - launch sites in what is linked, told by instructions of x86-64.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_CODE_H
#define CHECK_CODE_H

#include "program.h"

/* Find them where relocations tell of none; after symbols_name(). */
void code_find_sites(struct program *program);

#endif
