/*
 * pointers.h - reads pointers in a file that is not loaded.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_POINTERS_H
#define CHECK_POINTERS_H

#include "common/elfsymbols.h"
#include "program.h"

/* Reads the pointers to keys and names in the entries. Call this after tables_read(). */
void pointers_read(struct program *program);

/*
 * A pointer in the file: `at` is the place of the pointer, and `target` is the place or symbol to
 * which the pointer points. pointers_resolve() finds the targets that the COUNT elements of
 * POINTERS have at run time. POINTERS must be sorted by place.
 */
struct pointer {
    struct elf_place at;
    struct target target;
};
void pointers_resolve(const struct program *program, struct pointer *pointers, size_t count);

/*
 * Returns the target that RELOCATION gives to a pointer. SYMBOLS must be the symbol table of
 * RELOCATION.
 */
struct target pointer_target(const struct elf_relocation *relocation,
                             const struct elf_symbols *symbols);

#endif
