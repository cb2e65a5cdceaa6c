/*
 * symbols.h - what the symbols of a program say.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_SYMBOLS_H
#define CHECK_SYMBOLS_H

#include "program.h"

/* Host keys, entries and the module, by their names; after tables_find(). */
void symbols_read(struct program *program);

/* The symbols that entries point to; after pointers_read(). */
void symbols_name(struct program *program);

#endif
