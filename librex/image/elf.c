/*
 * elf.c - reads an ELF64 file in memory, in place and never outside it.
 *
 * Every multi-byte read is a memcpy after a bounds check: the bytes may be hostile and need not be
 * aligned.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/elf.h"

#include <string.h>

/* Limits against hostile files, which can claim any number. */
#define MOST_SECTIONS (1 << 22)
#define MOST_SEGMENTS 1024

int rex_elf_refuse(struct rex_elf *elf, const char *why)
{
    elf->why = why;
    return -1;
}

const unsigned char *rex_elf_bytes(const struct rex_elf *elf, uint64_t offset, uint64_t size)
{
    return offset <= elf->size && size <= elf->size - offset ? elf->bytes + offset : NULL;
}

/* ---- opening --------------------------------------------------------------------------------- */

int rex_elf_identify(struct rex_elf *elf, const void *bytes, size_t size)
{
    *elf = (struct rex_elf){.bytes = bytes, .size = size};
    const unsigned char *identity = elf->header.e_ident;
    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return rex_elf_refuse(elf, "it is not an ELF file");
    if (size < sizeof elf->header)
        return rex_elf_refuse(elf, "it is truncated inside the ELF header");
    memcpy(&elf->header, bytes, sizeof elf->header);
    if (identity[EI_CLASS] != ELFCLASS64 || identity[EI_DATA] != ELFDATA2LSB)
        return rex_elf_refuse(elf, "it is not a 64-bit little-endian ELF file");
    return 0;
}

int rex_elf_view(struct rex_elf *elf, const void *bytes, size_t size)
{
    static const char no_sections[] = "it has no section table (removed by sstrip, or by strip "
                                      "--strip-section-headers?)";
    const Elf64_Ehdr *header = &elf->header;
    Elf64_Shdr first;
    if (rex_elf_identify(elf, bytes, size) != 0)
        return -1;
    const unsigned char *table = rex_elf_bytes(elf, header->e_shoff, sizeof first);
    if (header->e_shoff == 0)
        return rex_elf_refuse(elf, no_sections);
    if (header->e_shentsize != sizeof first)
        return rex_elf_refuse(elf, "its section headers are of an unknown size");
    if (table == NULL)
        return rex_elf_refuse(elf, "it is truncated: its section table lies past the end");
    memcpy(&first, table, sizeof first);
    /*
     * From 65280 sections on, the number of sections and the index of the section names do not fit
     * into the ELF header. The header of section 0 then has both numbers (ELF specification).
     */
    uint64_t count = header->e_shnum != 0 ? header->e_shnum : first.sh_size;
    if (count == 0)
        return rex_elf_refuse(elf, no_sections);
    if (count > (elf->size - header->e_shoff) / sizeof first)
        return rex_elf_refuse(elf, "it is truncated: its section table lies past the end");
    if (count > MOST_SECTIONS)
        return rex_elf_refuse(elf, "it has more sections than any program has");
    elf->sections = (size_t)count;
    elf->section_names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
    if (header->e_phnum > MOST_SEGMENTS)
        return rex_elf_refuse(elf, "it has more segments than any program has");
    return 0;
}

int rex_elf_open(struct rex_elf *elf, const void *bytes, size_t size)
{
    const Elf64_Ehdr *header = &elf->header;
    Elf64_Shdr section;
    Elf64_Phdr segment;
    if (rex_elf_view(elf, bytes, size) != 0)
        return -1;
    /*
     * e_shnum is 0 if the file has more sections than the field can count. Refuse such a file: the
     * 16-bit section index of a symbol cannot name all sections.
     */
    if (header->e_shnum == 0)
        return rex_elf_refuse(elf, "it has more sections than a device image can have");
    if (elf->section_names >= elf->sections)
        return rex_elf_refuse(elf, "it names no table of section names");
    for (size_t i = 0; rex_elf_section(elf, i, &section); i++)
        if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
            rex_elf_section_bytes(elf, &section) == NULL)
            return rex_elf_refuse(elf, "it is truncated: a section lies past the end");
    if (header->e_phnum == 0)
        return 0;
    if (header->e_phentsize != sizeof segment)
        return rex_elf_refuse(elf, "its program headers are of an unknown size");
    if (rex_elf_bytes(elf, header->e_phoff, header->e_phnum * sizeof segment) == NULL)
        return rex_elf_refuse(elf, "it is truncated: its program headers lie past the end");
    for (size_t i = 0; rex_elf_segment(elf, i, &segment); i++)
        if (segment.p_type == PT_LOAD &&
            rex_elf_bytes(elf, segment.p_offset, segment.p_filesz) == NULL)
            return rex_elf_refuse(elf, "it is truncated: a segment lies past the end");
    return 0;
}

/* ---- sections and segments ------------------------------------------------------------------- */

bool rex_elf_section(const struct rex_elf *elf, size_t index, Elf64_Shdr *section)
{
    if (index >= elf->sections)
        return false;
    memcpy(section, elf->bytes + elf->header.e_shoff + index * sizeof *section, sizeof *section);
    /* The fields of an unused header, even offset and size, are undefined. */
    if (section->sh_type == SHT_NULL)
        memset(section, 0, sizeof *section);
    return true;
}

bool rex_elf_segment(const struct rex_elf *elf, size_t index, Elf64_Phdr *segment)
{
    const Elf64_Ehdr *header = &elf->header;
    if (index >= header->e_phnum || header->e_phentsize != sizeof *segment ||
        header->e_phoff > elf->size)
        return false;
    const unsigned char *bytes =
        rex_elf_bytes(elf, header->e_phoff + index * sizeof *segment, sizeof *segment);
    if (bytes == NULL)
        return false;
    memcpy(segment, bytes, sizeof *segment);
    return true;
}

const unsigned char *rex_elf_section_bytes(const struct rex_elf *elf, const Elf64_Shdr *section)
{
    if (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL)
        return NULL;
    return rex_elf_bytes(elf, section->sh_offset, section->sh_size);
}

bool rex_elf_find_type(const struct rex_elf *elf, uint32_t type, Elf64_Shdr *section)
{
    for (size_t i = 0; rex_elf_section(elf, i, section); i++)
        if (section->sh_type == type)
            return true;
    return false;
}

bool rex_elf_find_segment(const struct rex_elf *elf, uint32_t type, Elf64_Phdr *segment)
{
    for (size_t i = 0; rex_elf_segment(elf, i, segment); i++)
        if (segment->p_type == type)
            return true;
    return false;
}

/*
 * Maximum number of sections that are searched for an address. A linker makes a few dozen; a
 * hostile file may have millions.
 */
#define MOST_SEARCHED 256

const unsigned char *rex_elf_at(const struct rex_elf *elf, uint64_t address, uint64_t *room)
{
    const unsigned char *found = NULL;
    Elf64_Shdr section;
    for (size_t i = 0; i < MOST_SEARCHED && rex_elf_section(elf, i, &section); i++) {
        uint64_t into = address - section.sh_addr; /* huge if the section begins after ADDRESS */
        if (!(section.sh_flags & SHF_ALLOC) || into >= section.sh_size)
            continue;
        const unsigned char *bytes = rex_elf_section_bytes(elf, &section);
        if (bytes != NULL) {
            found = bytes + into;
            *room = section.sh_size - into;
        }
    }
    return found;
}

/* ---- strings --------------------------------------------------------------------------------- */

/*
 * Names of this length or longer are refused; librex needs no such name. The names in a hostile
 * table may overlap, and each may be nearly as long as the file. Reading all names of such a table
 * would take quadratic time.
 */
#define LONGEST_NAME 4096

const char *rex_elf_string_within(const unsigned char *bytes, uint64_t room)
{
    if (bytes == NULL || memchr(bytes, '\0', room < LONGEST_NAME ? room : LONGEST_NAME) == NULL)
        return NULL;
    return (const char *)bytes;
}

const char *rex_elf_string(const struct rex_elf *elf, const Elf64_Shdr *strings, uint64_t offset)
{
    const unsigned char *bytes = rex_elf_section_bytes(elf, strings);
    if (bytes == NULL || strings->sh_type != SHT_STRTAB || offset >= strings->sh_size)
        return NULL;
    return rex_elf_string_within(bytes + offset, strings->sh_size - offset);
}

const char *rex_elf_section_name(const struct rex_elf *elf, const Elf64_Shdr *section)
{
    Elf64_Shdr strings;
    if (!rex_elf_section(elf, elf->section_names, &strings))
        return "";
    const char *name = rex_elf_string(elf, &strings, section->sh_name);
    return name != NULL ? name : "";
}

/* ---- tables ---------------------------------------------------------------------------------- */

size_t rex_elf_symbols(const Elf64_Shdr *symbols)
{
    return symbols->sh_entsize == sizeof(Elf64_Sym) ? symbols->sh_size / sizeof(Elf64_Sym) : 0;
}

bool rex_elf_symbol(const struct rex_elf *elf, const Elf64_Shdr *symbols, size_t index,
                    Elf64_Sym *symbol, const char **name)
{
    Elf64_Shdr strings;
    /*
     * Check the type: a relocation section may name any section as its symbol table, even a section
     * without bytes in the file.
     */
    if ((symbols->sh_type != SHT_SYMTAB && symbols->sh_type != SHT_DYNSYM) ||
        index >= rex_elf_symbols(symbols) || !rex_elf_section(elf, symbols->sh_link, &strings) ||
        !rex_elf_row(elf, symbols, symbols->sh_type, index, symbol, sizeof *symbol))
        return false;
    *name = rex_elf_string(elf, &strings, symbol->st_name);
    if (*name == NULL)
        *name = "";
    return true;
}

bool rex_elf_row(const struct rex_elf *elf, const Elf64_Shdr *section, uint32_t type, size_t index,
                 void *row, size_t size)
{
    const unsigned char *bytes = rex_elf_section_bytes(elf, section);
    if (section->sh_type != type || (type == SHT_RELA && section->sh_entsize != size))
        return false;
    if (bytes == NULL || index >= section->sh_size / size)
        return false;
    memcpy(row, bytes + index * size, size);
    return true;
}
