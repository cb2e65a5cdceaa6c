/*
 * tables.h - the sections of entries, and the entries in them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_TABLES_H
#define CHECK_TABLES_H

#include "program.h"

/* Find the sections. 0, or -1 with ->file.why. */
int tables_find(struct program *program);

/* Read their entries but for what these point to; after symbols_read(). */
void tables_read(struct program *program);

#endif
