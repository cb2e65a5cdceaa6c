/*
 * elfsymbols.c - reads the symbols and relocations of an ELF file in order.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common/elfsymbols.h"

#include <string.h>

/*
 * Number of rows of a symbol table or relocation section that a loop reads before it drops the
 * pages of the file (elf_file_drop_pages()). The pages of these rows and of their names take some
 * megabytes.
 */
#define ROWS_HELD 0x8000

/* ---- symbols --------------------------------------------------------------------------------- */

int elf_symbols_of(const struct elf_file *file, size_t section, struct elf_symbols *symbols)
{
    Elf64_Sym first;
    const char *name;
    *symbols = (struct elf_symbols){.file = file, .next = 1};
    if (!rex_elf_section(&file->elf, section, &symbols->table) ||
        !rex_elf_symbol(&file->elf, &symbols->table, 0, &first, &name))
        return -1;
    symbols->count = rex_elf_symbols(&symbols->table);
    if (file->extended.sh_link == section)
        symbols->extended = file->extended;
    return 0;
}

static size_t section_of(const struct elf_symbols *symbols, size_t index, const Elf64_Sym *symbol)
{
    uint32_t extended;
    const unsigned char *all = rex_elf_section_bytes(&symbols->file->elf, &symbols->extended);
    if (symbol->st_shndx != SHN_XINDEX)
        return symbol->st_shndx < SHN_LORESERVE ? symbol->st_shndx : SHN_UNDEF;
    if (all == NULL || index >= symbols->extended.sh_size / sizeof extended)
        return SHN_UNDEF;
    memcpy(&extended, all + index * sizeof extended, sizeof extended);
    return extended;
}

int elf_symbol(const struct elf_symbols *symbols, size_t index, struct elf_symbol *symbol)
{
    Elf64_Sym raw;
    const char *name;
    if (index == 0 || !rex_elf_symbol(&symbols->file->elf, &symbols->table, index, &raw, &name))
        return -1;
    size_t section = section_of(symbols, index, &raw);
    *symbol =
        (struct elf_symbol){.name = name,
                            .place = {elf_is_object(symbols->file) ? section : 0, raw.st_value},
                            .size = raw.st_size,
                            .type = ELF64_ST_TYPE(raw.st_info),
                            .binding = ELF64_ST_BIND(raw.st_info),
                            .defined = section != SHN_UNDEF};
    return 0;
}

bool elf_next_symbol(struct elf_symbols *symbols, struct elf_symbol *symbol)
{
    if (symbols->next % ROWS_HELD == 0)
        elf_file_drop_pages(symbols->file);
    return elf_symbol(symbols, symbols->next++, symbol) == 0;
}

size_t elf_symbol_table(const struct elf_file *file, bool *full)
{
    Elf64_Shdr section;
    size_t dynamic = 0;
    *full = true;
    for (size_t i = 1; rex_elf_section(&file->elf, i, &section); i++) {
        if (section.sh_type == SHT_SYMTAB)
            return i;
        if (section.sh_type == SHT_DYNSYM && dynamic == 0)
            dynamic = i;
    }
    *full = false;
    return dynamic;
}

/* ---- relocations ----------------------------------------------------------------------------- */

bool elf_next_relocation(const struct elf_file *file, const Elf64_Shdr *section, size_t *next,
                         struct elf_relocation *relocation)
{
    Elf64_Rela raw;
    if (*next % ROWS_HELD == ROWS_HELD - 1)
        elf_file_drop_pages(file);
    if (!rex_elf_row(&file->elf, section, SHT_RELA, (*next)++, &raw, sizeof raw))
        return false;
    *relocation = (struct elf_relocation){raw.r_offset, raw.r_addend, ELF64_R_SYM(raw.r_info),
                                          (uint32_t)ELF64_R_TYPE(raw.r_info)};
    return true;
}
