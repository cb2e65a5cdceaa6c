/*
 * module.h - finds the program's struct rex_module, which names its images.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_MODULE_H
#define CHECK_MODULE_H

#include "program.h"

/* Finds the module of PROGRAM. Call this after tables_read(). */
void module_find(struct program *program);

#endif
