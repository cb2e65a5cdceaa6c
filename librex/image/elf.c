/*
 * elf.c - a view of an ELF64 file in memory that never reads outside it.
 *
 * Every multi-byte read is a memcpy after a bounds check: the bytes may be hostile and need not be
 * aligned.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/elf.h"

#include <string.h>

static bool inside(const struct rex_elf *elf, uint64_t offset, uint64_t size)
{
    return offset <= elf->size && size <= elf->size - offset;
}

int rex_elf_refuse(struct rex_elf *elf, const char *why)
{
    elf->why = why;
    return -1;
}

static int check_identity(struct rex_elf *elf)
{
    const Elf64_Ehdr *header = &elf->header;
    if (elf->size < SELFMAG || memcmp(elf->bytes, ELFMAG, SELFMAG) != 0)
        return rex_elf_refuse(elf, "it is not an ELF file");
    if (elf->size < sizeof *header)
        return rex_elf_refuse(elf, "it is truncated inside the ELF header");
    memcpy(&elf->header, elf->bytes, sizeof elf->header);
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return rex_elf_refuse(elf, "it is not a 64-bit little-endian ELF file");
    return 0;
}

static int check_sections(struct rex_elf *elf)
{
    const Elf64_Ehdr *header = &elf->header;
    if (header->e_shoff == 0 || header->e_shnum == 0)
        return rex_elf_refuse(elf, "it has no section table");
    if (header->e_shentsize != sizeof(Elf64_Shdr))
        return rex_elf_refuse(elf, "its section headers are of an unknown size");
    if (!inside(elf, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
        return rex_elf_refuse(elf, "it is truncated: its section table lies past the end");
    if (header->e_shstrndx >= header->e_shnum)
        return rex_elf_refuse(elf, "it names no table of section names");
    for (size_t i = 0; i < header->e_shnum; i++) {
        Elf64_Shdr section;
        rex_elf_section(elf, i, &section);
        if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
            !inside(elf, section.sh_offset, section.sh_size))
            return rex_elf_refuse(elf, "it is truncated: a section lies past the end");
    }
    return 0;
}

static int check_segments(struct rex_elf *elf)
{
    const Elf64_Ehdr *header = &elf->header;
    if (header->e_phnum == 0)
        return 0;
    if (header->e_phentsize != sizeof(Elf64_Phdr))
        return rex_elf_refuse(elf, "its program headers are of an unknown size");
    if (!inside(elf, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)))
        return rex_elf_refuse(elf, "it is truncated: its program headers lie past the end");
    for (size_t i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, elf->bytes + header->e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_LOAD && !inside(elf, segment.p_offset, segment.p_filesz))
            return rex_elf_refuse(elf, "it is truncated: a segment lies past the end");
    }
    return 0;
}

int rex_elf_open(struct rex_elf *elf, const void *bytes, size_t size)
{
    *elf = (struct rex_elf){.bytes = bytes, .size = size};
    return check_identity(elf) != 0 || check_sections(elf) != 0 || check_segments(elf) != 0 ? -1
                                                                                            : 0;
}

bool rex_elf_section(const struct rex_elf *elf, size_t index, Elf64_Shdr *section)
{
    if (index >= elf->header.e_shnum)
        return false;
    memcpy(section, elf->bytes + elf->header.e_shoff + index * sizeof *section, sizeof *section);
    /* An unused header says nothing: its offset and size may be anything. */
    if (section->sh_type == SHT_NULL)
        memset(section, 0, sizeof *section);
    return true;
}

const char *rex_elf_string_within(const char *string, uint64_t room)
{
    return memchr(string, '\0', room < REX_ELF_LONGEST_NAME ? room : REX_ELF_LONGEST_NAME) != NULL
               ? string
               : NULL;
}

const char *rex_elf_string(const struct rex_elf *elf, const Elf64_Shdr *strings, uint64_t offset)
{
    if (strings->sh_type != SHT_STRTAB || offset >= strings->sh_size)
        return NULL;
    return rex_elf_string_within((const char *)elf->bytes + strings->sh_offset + offset,
                                 strings->sh_size - offset);
}

const char *rex_elf_section_name(const struct rex_elf *elf, const Elf64_Shdr *section)
{
    Elf64_Shdr strings = {.sh_type = SHT_NULL};
    rex_elf_section(elf, elf->header.e_shstrndx, &strings);
    const char *name = rex_elf_string(elf, &strings, section->sh_name);
    return name != NULL ? name : "";
}

bool rex_elf_find_type(const struct rex_elf *elf, uint32_t type, Elf64_Shdr *section)
{
    for (size_t i = 0; rex_elf_section(elf, i, section); i++)
        if (section->sh_type == type)
            return true;
    return false;
}

size_t rex_elf_symbols(const Elf64_Shdr *symbols)
{
    return symbols->sh_entsize == sizeof(Elf64_Sym) ? symbols->sh_size / sizeof(Elf64_Sym) : 0;
}

bool rex_elf_symbol(const struct rex_elf *elf, const Elf64_Shdr *symbols, size_t index,
                    Elf64_Sym *symbol, const char **name)
{
    Elf64_Shdr strings;
    /* A section may name any other as its symbols, also one whose bytes are not in the file. */
    if ((symbols->sh_type != SHT_SYMTAB && symbols->sh_type != SHT_DYNSYM) ||
        index >= rex_elf_symbols(symbols) || !rex_elf_section(elf, symbols->sh_link, &strings))
        return false;
    memcpy(symbol, elf->bytes + symbols->sh_offset + index * sizeof *symbol, sizeof *symbol);
    *name = rex_elf_string(elf, &strings, symbol->st_name);
    return *name != NULL;
}

bool rex_elf_dynamic(const struct rex_elf *elf, const Elf64_Shdr *dynamic, size_t index,
                     Elf64_Dyn *entry)
{
    if (dynamic->sh_type != SHT_DYNAMIC || index >= dynamic->sh_size / sizeof *entry)
        return false;
    memcpy(entry, elf->bytes + dynamic->sh_offset + index * sizeof *entry, sizeof *entry);
    return true;
}
