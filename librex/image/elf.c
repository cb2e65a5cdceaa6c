/*
 * elf.c - a view of an ELF64 file in memory that never reads outside it, and the reader of host
 * images.
 *
 * Every multi-byte read is a memcpy after a bounds check: the bytes may be hostile and need not be
 * aligned.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/elf.h"

#include <stdlib.h>
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

/*
 * In a made-up table all names may overlap, each nearly as long as the file: to read them would
 * take the square of its size. A longer name counts as none: no name that librex looks for is.
 */
#define LONGEST_NAME 4096

/* The string of ROOM bytes at most at STRING, NULL if it is longer than any name. */
static const char *string_within(const char *string, uint64_t room)
{
    return memchr(string, '\0', room < LONGEST_NAME ? room : LONGEST_NAME) != NULL ? string : NULL;
}

const char *rex_elf_string(const struct rex_elf *elf, const Elf64_Shdr *strings, uint64_t offset)
{
    if (strings->sh_type != SHT_STRTAB || offset >= strings->sh_size)
        return NULL;
    return string_within((const char *)elf->bytes + strings->sh_offset + offset,
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

/* ---- host images ----------------------------------------------------------------------------- */

/*
 * libomptarget's host device opens it with the loader and looks kernels up by name (16 on), or
 * takes the rows of its section `omp_offloading_entries` by position (14 and 15).
 */

#define ENTRY_SECTION "omp_offloading_entries"
#define ENTRY_SIZE 32
#define ENTRY_NAME 8            /* offset of the name */
#define CALL_PREFIX "rex_call_" /* before a kernel's name: what calls it, of rex/kernel.h */

static void add_symbol(struct rex_view *view, const Elf64_Sym *symbol, const char *name)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    const struct rex_image_symbol found = {.name = name,
                                           .kernel = type == STT_FUNC,
                                           .size = symbol->st_size,
                                           .parameters = REX_PARAMETERS_UNKNOWN,
                                           .exec_mode = -1};
    if (symbol->st_shndx == SHN_UNDEF || *name == '\0' ||
        rex_name_after(name, REX_SIGNATURE_PREFIX) != NULL ||
        rex_name_after(name, CALL_PREFIX) != NULL ||
        (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE))
        return;
    rex_view_add(view, &found);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A linker makes a few dozen sections. In a made-up file an address is looked for in so many. */
#define MOST_SECTIONS 256

/* The bytes of the file for ADDRESS, *ROOM up to the end of their section; NULL: there are none. */
static const char *bytes_at(const struct rex_elf *elf, uint64_t address, uint64_t *room)
{
    const char *bytes = NULL;
    Elf64_Shdr section;
    for (size_t i = 0; i < MOST_SECTIONS && rex_elf_section(elf, i, &section); i++) {
        uint64_t into = address - section.sh_addr; /* beyond all sizes in front of it */
        if (section.sh_flags & SHF_ALLOC && section.sh_type != SHT_NOBITS &&
            into < section.sh_size) {
            bytes = (const char *)elf->bytes + section.sh_offset + into;
            *room = section.sh_size - into;
        }
    }
    return bytes;
}

/* The string at ADDRESS, NULL if it does not end inside its section. */
static const char *string_at(const struct rex_elf *elf, uint64_t address)
{
    uint64_t room;
    const char *string = bytes_at(elf, address, &room);
    return string != NULL ? string_within(string, room) : NULL;
}

/* ---- signatures and calls -------------------------------------------------------------------- */

/* The signature is the bytes of its symbol. In librex 0.1 they were a text, "0(rex_arg n)". */
static int read_signature(struct rex_view *view, struct rex_elf *elf, const Elf64_Sym *symbol,
                          struct rex_image_symbol *kernel)
{
    uint64_t room;
    const char *bytes = bytes_at(elf, symbol->st_value, &room);
    if (bytes == NULL || symbol->st_size > room)
        return 0;
    if (symbol->st_size > 1 && bytes[1] == '(')
        return rex_elf_refuse(elf, "it was compiled with rex/kernel.h of librex 0.1: rebuild it");
    rex_signature_read_numbers(view, kernel, bytes, symbol->st_size);
    return 0;
}

/*
 * The kernels' signatures, and the functions that call them. Signatures that overlap would take the
 * square of the file's size to read.
 */
static int read_marks(struct rex_view *view, struct rex_elf *elf, const Elf64_Shdr *symbols)
{
    uint64_t total = 0;
    for (size_t i = 1; i < rex_elf_symbols(symbols); i++) {
        Elf64_Sym symbol;
        const char *name;
        struct rex_image_symbol *kernel;
        if (!rex_elf_symbol(elf, symbols, i, &symbol, &name) || symbol.st_shndx == SHN_UNDEF)
            continue;
        if ((kernel = rex_view_kernel_after(view, name, CALL_PREFIX)) != NULL)
            kernel->call = name;
        if ((kernel = rex_view_kernel_after(view, name, REX_SIGNATURE_PREFIX)) == NULL)
            continue;
        if (symbol.st_size > elf->size - total)
            return rex_elf_refuse(elf, "its signatures take more bytes than the file has");
        total += symbol.st_size;
        if (read_signature(view, elf, &symbol, kernel) != 0)
            return -1;
    }
    return 0;
}

/* ---- the entry table ------------------------------------------------------------------------- */

/* The value that relocation RELA stores: an address in the image, or that of one of its symbols. */
static uint64_t relocated(const struct rex_elf *elf, const Elf64_Shdr *relocations,
                          const Elf64_Rela *rela)
{
    Elf64_Shdr symbols;
    Elf64_Sym symbol;
    const char *name;
    size_t index = ELF64_R_SYM(rela->r_info);
    if (index == 0)
        return (uint64_t)rela->r_addend;
    if (!rex_elf_section(elf, relocations->sh_link, &symbols) ||
        !rex_elf_symbol(elf, &symbols, index, &symbol, &name))
        return 0;
    return symbol.st_value + (uint64_t)rela->r_addend;
}

/*
 * Name rows of the entry table by the relocations of all sections. No linker writes more bytes of
 * them than the file has: they would overlap.
 */
static int apply_relocations(struct rex_view *view, struct rex_elf *elf, const Elf64_Shdr *entries)
{
    uint64_t total = 0;
    Elf64_Shdr section;
    Elf64_Rela rela;
    for (size_t i = 0; rex_elf_section(elf, i, &section); i++) {
        if (section.sh_type != SHT_RELA || !(section.sh_flags & SHF_ALLOC))
            continue;
        total += section.sh_size;
        if (total > elf->size)
            return rex_elf_refuse(elf, "its relocations take more bytes than the file has");
        for (uint64_t at = 0; at + sizeof rela <= section.sh_size; at += sizeof rela) {
            memcpy(&rela, elf->bytes + section.sh_offset + at, sizeof rela);
            uint64_t into = rela.r_offset - entries->sh_addr; /* beyond all sizes in front of it */
            if (into < entries->sh_size && into % ENTRY_SIZE == ENTRY_NAME)
                view->positions[into / ENTRY_SIZE] =
                    string_at(elf, relocated(elf, &section, &rela));
        }
    }
    return 0;
}

/*
 * Names are pointers that the loader fills in: they are in the relocations, or in place where those
 * are packed (RELR).
 */
static int read_positions(struct rex_view *view, struct rex_elf *elf, const Elf64_Shdr *entries)
{
    if (entries->sh_type == SHT_NOBITS || entries->sh_size % ENTRY_SIZE != 0)
        return rex_elf_refuse(elf, "the length of its section " ENTRY_SECTION
                                   " is no multiple of an entry's 32 bytes");
    view->position_count = entries->sh_size / ENTRY_SIZE;
    view->positions = calloc(view->position_count + 1, sizeof *view->positions);
    if (view->positions == NULL)
        return -1;
    for (size_t i = 0; i < view->position_count; i++) {
        uint64_t address;
        memcpy(&address, elf->bytes + entries->sh_offset + i * ENTRY_SIZE + ENTRY_NAME,
               sizeof address);
        view->positions[i] = string_at(elf, address);
    }
    if (apply_relocations(view, elf, entries) != 0)
        return -1;
    for (size_t i = 0; i < view->position_count; i++)
        if (view->positions[i] == NULL)
            return rex_elf_refuse(elf, "an entry of its section " ENTRY_SECTION " has no name");
    return 0;
}

int rex_host_image_read(struct rex_view *view, struct rex_elf *elf)
{
    Elf64_Shdr symbols, section;
    Elf64_Sym symbol;
    const char *name;
    if (!rex_elf_find_type(elf, SHT_DYNSYM, &symbols))
        return rex_elf_refuse(elf, "it exports nothing");
    for (size_t i = 1; i < rex_elf_symbols(&symbols); i++)
        if (rex_elf_symbol(elf, &symbols, i, &symbol, &name))
            add_symbol(view, &symbol, name);
    if (rex_view_index(view) != 0 || read_marks(view, elf, &symbols) != 0)
        return -1;
    for (size_t i = 0; rex_elf_section(elf, i, &section); i++)
        if (strcmp(rex_elf_section_name(elf, &section), ENTRY_SECTION) == 0)
            return read_positions(view, elf, &section);
    return 0;
}
