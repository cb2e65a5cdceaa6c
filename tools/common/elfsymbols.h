/*
 * elfsymbols.h - reads the symbols and relocations of an ELF file in order.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef TOOLS_ELFSYMBOLS_H
#define TOOLS_ELFSYMBOLS_H

#include "common/elffile.h"

/* A symbol. The name is valid until the file is closed. */
struct elf_symbol {
    const char *name;
    struct elf_place place; /* place of a defined symbol */
    uint64_t size;
    unsigned type, binding;
    bool defined; /* the file itself defines the symbol */
};

/* The symbols of one table, read in order or by index. */
struct elf_symbols {
    const struct elf_file *file;
    Elf64_Shdr table, extended;
    size_t count, next;
};
int elf_symbols_of(const struct elf_file *file, size_t section, struct elf_symbols *symbols);
bool elf_next_symbol(struct elf_symbols *symbols, struct elf_symbol *symbol);
int elf_symbol(const struct elf_symbols *symbols, size_t index, struct elf_symbol *symbol);

/*
 * Returns the index of the full symbol table. If the file has only a dynamic symbol table, returns
 * the index of that table. Returns 0 if the file has neither. Sets *FULL to true if the result is
 * the full table, else to false.
 */
size_t elf_symbol_table(const struct elf_file *file, bool *full);

/*
 * A relocation writes SYMBOL's address plus ADDEND to OFFSET. In an object file (.o), OFFSET counts
 * from the start of the section that the relocation changes. In a linked file OFFSET is an address.
 */
struct elf_relocation {
    uint64_t offset;
    int64_t addend;
    size_t symbol; /* 0: no symbol */
    uint32_t type;
};

/*
 * Reads relocation number *NEXT of SECTION, a section of relocations with addends, and increments
 * *NEXT. The numbers begin at 0. Returns false after the last relocation.
 */
bool elf_next_relocation(const struct elf_file *file, const Elf64_Shdr *section, size_t *next,
                         struct elf_relocation *relocation);

#endif
