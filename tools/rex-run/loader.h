/*
 * loader.h - what the loader would load for a program.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_LOADER_H
#define REX_RUN_LOADER_H

#include "program.h"

/*
 * Call SEE for each library that the loader would load for PROGRAM: the name asked for and where it
 * is, NULL: nowhere.
 */
void ask_loader(const struct program *program,
                void (*see)(const char *name, const char *path, void *context), void *context);

#endif
