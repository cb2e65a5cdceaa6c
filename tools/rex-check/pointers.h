/*
 * pointers.h - reads pointers in a file that is not loaded.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_POINTERS_H
#define CHECK_POINTERS_H

#include "common/elfsymbols.h"
#include "program.h"

/* Reads the pointers of the entries, to keys and names. Call it after tables_read(). */
void pointers_read(struct program *program);

/*
 * A pointer in the file: AT is the place of the pointer, and TARGET is the place or symbol to which
 * it points. pointers_resolve() finds the targets that COUNT pointers have at run time. The
 * pointers must be sorted by place.
 */
struct pointer {
    struct elf_place at;
    struct target target;
};
void pointers_resolve(const struct program *program, struct pointer *pointers, size_t count);

/*
 * Returns the target that RELOCATION gives to a pointer. SYMBOLS is the symbol table that
 * RELOCATION refers to.
 */
struct target pointer_target(const struct elf_relocation *relocation,
                             const struct elf_symbols *symbols);

#endif
