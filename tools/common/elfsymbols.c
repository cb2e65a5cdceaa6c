/*
 * elfsymbols.c - symbols and relocations of an ELF file, one after another.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "common/elfsymbols.h"

#include <string.h>

/* A sweep drops its pages after so many rows: with their names some megabytes. */
#define ROWS_HELD 0x8000

/* ---- symbols --------------------------------------------------------------------------------- */

/* Indices of sections that do not fit into a symbol of TABLE. */
static void find_extended(const struct elf_file *file, size_t table, Elf64_Shdr *extended)
{
    if (file->extended == 0 || elf_section(file, file->extended, extended) != 0 ||
        extended->sh_link != table || elf_section_bytes(file, extended) == NULL)
        memset(extended, 0, sizeof *extended);
}

int elf_symbols_of(const struct elf_file *file, size_t section, struct elf_symbols *symbols)
{
    memset(symbols, 0, sizeof *symbols);
    symbols->file = file;
    symbols->next = 1;
    if (elf_section(file, section, &symbols->table) != 0 ||
        (symbols->table.sh_type != SHT_SYMTAB && symbols->table.sh_type != SHT_DYNSYM) ||
        symbols->table.sh_entsize != sizeof(Elf64_Sym) ||
        elf_section_bytes(file, &symbols->table) == NULL ||
        elf_section(file, symbols->table.sh_link, &symbols->strings) != 0)
        return -1;
    symbols->count = symbols->table.sh_size / sizeof(Elf64_Sym);
    find_extended(file, section, &symbols->extended);
    return 0;
}

static size_t section_of(const struct elf_symbols *symbols, size_t index, const Elf64_Sym *symbol)
{
    uint32_t extended;
    if (symbol->st_shndx != SHN_XINDEX)
        return symbol->st_shndx < SHN_LORESERVE ? symbol->st_shndx : SHN_UNDEF;
    if (index >= symbols->extended.sh_size / sizeof extended)
        return SHN_UNDEF;
    memcpy(&extended, symbols->file->bytes + symbols->extended.sh_offset + index * sizeof extended,
           sizeof extended);
    return extended;
}

int elf_symbol(const struct elf_symbols *symbols, size_t index, struct elf_symbol *symbol)
{
    Elf64_Sym raw;
    if (index == 0 || index >= symbols->count)
        return -1;
    memcpy(&raw, symbols->file->bytes + symbols->table.sh_offset + index * sizeof raw, sizeof raw);
    size_t section = section_of(symbols, index, &raw);
    const char *name = elf_string(symbols->file, &symbols->strings, raw.st_name);
    *symbol =
        (struct elf_symbol){.name = name != NULL ? name : "",
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
    for (size_t i = 1; elf_section(file, i, &section) == 0; i++) {
        if (section.sh_type == SHT_SYMTAB)
            return i;
        if (section.sh_type == SHT_DYNSYM && dynamic == 0)
            dynamic = i;
    }
    *full = false;
    return dynamic;
}

/* ---- relocations ----------------------------------------------------------------------------- */

void elf_relocations_of(const struct elf_file *file, const Elf64_Shdr *section,
                        struct elf_relocations *relocations)
{
    *relocations = (struct elf_relocations){.file = file};
    if (section->sh_type != SHT_RELA || section->sh_entsize != sizeof(Elf64_Rela))
        return;
    relocations->bytes = elf_section_bytes(file, section);
    relocations->count = relocations->bytes != NULL ? section->sh_size / sizeof(Elf64_Rela) : 0;
}

bool elf_next_relocation(struct elf_relocations *relocations, struct elf_relocation *relocation)
{
    Elf64_Rela raw;
    if (relocations->next == relocations->count)
        return false;
    if (relocations->next % ROWS_HELD == ROWS_HELD - 1)
        elf_file_drop_pages(relocations->file);
    memcpy(&raw, relocations->bytes + relocations->next++ * sizeof raw, sizeof raw);
    *relocation = (struct elf_relocation){raw.r_offset, raw.r_addend, ELF64_R_SYM(raw.r_info),
                                          (uint32_t)ELF64_R_TYPE(raw.r_info)};
    return true;
}
