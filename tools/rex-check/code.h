/*
 * code.h - launch sites in linked files, found by x86-64 instructions.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_CODE_H
#define CHECK_CODE_H

#include "program.h"

/*
 * Finds the launch sites in the instructions. Call this only if no relocations show the launch
 * sites, and after symbols_name().
 */
void code_find_sites(struct program *program);

#endif
