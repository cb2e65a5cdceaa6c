/*
 * tables.h - reads the sections of entries, and the entries in them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_TABLES_H
#define CHECK_TABLES_H

#include "program.h"

/* Finds the sections of entries. Returns 0, or -1 with the reason in ->file.why. */
int tables_find(struct program *program);

/* Reads the entries, but not their pointers. Call this after symbols_read(). */
void tables_read(struct program *program);

#endif
