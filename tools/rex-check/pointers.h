/*
 * pointers.h - pointers in a file that has not been loaded.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_POINTERS_H
#define CHECK_POINTERS_H

#include "common/elfsymbols.h"
#include "program.h"

/* Reads the pointers of the entries, to keys and names; after tables_read(). */
void pointers_read(struct program *program);

/* Pointers at COUNT places that are in order, as they are when the program runs. */
struct pointer {
    struct elf_place at;
    struct target target;
};
void pointers_resolve(const struct program *program, struct pointer *pointers, size_t count);

/* The target that RELOCATION, whose section names SYMBOLS, gives the pointer there. */
struct target pointer_target(const struct elf_relocation *relocation,
                             const struct elf_symbols *symbols);

#endif
