/*
 * elfsymbols.h - symbols and relocations of an ELF file, one after another.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_ELFSYMBOLS_H
#define TOOLS_ELFSYMBOLS_H

#include "common/elffile.h"

/* A symbol. A name lasts as long as the file is open. */
struct elf_symbol {
    const char *name;
    struct elf_place place; /* of a defined one */
    uint64_t size;
    unsigned type, binding;
    bool defined; /* in this file, at a place */
};

/* The symbols of one table: all of them, one after another, or by index. */
struct elf_symbols {
    const struct elf_file *file;
    Elf64_Shdr table, extended;
    size_t count, next;
};
int elf_symbols_of(const struct elf_file *file, size_t section, struct elf_symbols *symbols);
bool elf_next_symbol(struct elf_symbols *symbols, struct elf_symbol *symbol);
int elf_symbol(const struct elf_symbols *symbols, size_t index, struct elf_symbol *symbol);

/*
 * The index of the best symbol table: the full one, else the dynamic one; 0 if there is neither.
 * *FULL says which.
 */
size_t elf_symbol_table(const struct elf_file *file, bool *full);

/*
 * A relocation: at OFFSET of what its section relocates (an address in what is linked) comes
 * SYMBOL's address plus ADDEND.
 */
struct elf_relocation {
    uint64_t offset;
    int64_t addend;
    size_t symbol; /* 0: none */
    uint32_t type;
};

/*
 * The relocation with addend *NEXT, from 0, of SECTION, and the number of the next one in *NEXT.
 * False: there is none.
 */
bool elf_next_relocation(const struct elf_file *file, const Elf64_Shdr *section, size_t *next,
                         struct elf_relocation *relocation);

#endif
