/*
 * symbols.h - reads the symbols of a program.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_SYMBOLS_H
#define CHECK_SYMBOLS_H

#include "program.h"

/*
 * Finds the symbols of host keys, of entries and of the module, by their names. Call this after
 * tables_find().
 */
void symbols_read(struct program *program);

/* Finds, for each entry, the symbol to which its key points. Call this after pointers_read(). */
void symbols_name(struct program *program);

#endif
