/*
 * loader.h - asks the loader for the libraries of a program.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_LOADER_H
#define REX_RUN_LOADER_H

#include "program.h"

/*
 * Calls SEE for each library that the loader would load for PROGRAM. SEE gets the requested name,
 * the path of the library, and CONTEXT. The path is NULL if the loader does not find the library.
 */
void ask_loader(const struct program *program,
                void (*see)(const char *name, const char *path, void *context), void *context);

#endif
