/*
 * module.h - which images a program would load: its struct rex_module.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_MODULE_H
#define CHECK_MODULE_H

#include "program.h"

/* Find it; after tables_read(). */
void module_find(struct program *program);

#endif
