/*
 * hostimage.c - read a host shared object: kernels, globals, signatures, and its own entry table.
 *
 * libomptarget's host device opens it with the loader and looks kernels up by name (16 on), or
 * takes the rows of its section `omp_offloading_entries` by position (14 and 15).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/hostimage.h"

#include <stdlib.h>
#include <string.h>

#include "image/signature.h"

#define ENTRY_SECTION "omp_offloading_entries"
#define ENTRY_SIZE 32
#define ENTRY_NAME 8            /* offset of the name */
#define CALL_PREFIX "rex_call_" /* before a kernel's name: what calls it, of rex/kernel.h */

static int add_symbol(struct rex_view *view, const Elf64_Sym *symbol, const char *name)
{
    struct rex_image_symbol found = {.name = name,
                                     .size = symbol->st_size,
                                     .parameters = REX_PARAMETERS_UNKNOWN,
                                     .exec_mode = -1};
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || *name == '\0' || rex_signature_of(name) != NULL ||
        strncmp(name, CALL_PREFIX, strlen(CALL_PREFIX)) == 0 ||
        (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE))
        return 0;
    found.kernel = type == STT_FUNC;
    return rex_view_add(view, &found);
}

/* Which kernels have a function that calls them. */
static void find_calls(struct rex_view *view, const struct rex_elf *elf, const Elf64_Shdr *symbols)
{
    Elf64_Sym symbol;
    const char *name;
    for (size_t i = 1; i < rex_elf_symbols(symbols); i++) {
        if (rex_elf_symbol(elf, symbols, i, &symbol, &name) != 0 || symbol.st_shndx == SHN_UNDEF)
            continue;
        struct rex_image_symbol *kernel = rex_view_kernel_after(view, name, CALL_PREFIX);
        if (kernel != NULL)
            kernel->call = name;
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A section that is in memory, and in the file. */
struct piece {
    uint64_t address, size, offset;
};

/*
 * All of them, by address, so that none is looked for along the others; they do not lie over each
 * other in what a linker makes.
 */
struct memory {
    struct piece *pieces;
    size_t count;
};

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *one = a, *other = b;
    return one->address < other->address ? -1 : one->address > other->address;
}

/* 0, or -1: out of memory. */
static int find_memory(const struct rex_elf *elf, struct memory *memory)
{
    Elf64_Shdr section;
    *memory = (struct memory){calloc(rex_elf_sections(elf), sizeof *memory->pieces), 0};
    if (memory->pieces == NULL)
        return -1;
    for (size_t i = 0; rex_elf_section(elf, i, &section) == 0; i++)
        if (section.sh_flags & SHF_ALLOC && section.sh_type != SHT_NOBITS && section.sh_size > 0)
            memory->pieces[memory->count++] =
                (struct piece){section.sh_addr, section.sh_size, section.sh_offset};
    qsort(memory->pieces, memory->count, sizeof *memory->pieces, compare_pieces);
    return 0;
}

/* The bytes at ADDRESS, *ROOM up to the end of their section; NULL: there are none. */
static const char *bytes_at(const struct rex_elf *elf, const struct memory *memory,
                            uint64_t address, uint64_t *room)
{
    size_t low = 0, high = memory->count; /* the first piece behind ADDRESS */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->pieces[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct piece *piece = low > 0 ? &memory->pieces[low - 1] : NULL;
    if (piece == NULL || address - piece->address >= piece->size)
        return NULL;
    uint64_t into = address - piece->address;
    *room = piece->size - into;
    return (const char *)elf->bytes + piece->offset + into;
}

/* The string at ADDRESS, NULL if it does not end inside its section. */
static const char *string_at(const struct rex_elf *elf, const struct memory *memory,
                             uint64_t address)
{
    uint64_t room;
    const char *string = bytes_at(elf, memory, address, &room);
    return string != NULL ? rex_elf_string_within(string, room) : NULL;
}

/* ---- signatures ------------------------------------------------------------------------------ */

/* The signature is the bytes of its symbol. In librex 0.1 they were a text, "0(rex_arg n)". */
static int read_signature(struct rex_view *view, struct rex_elf *elf, const struct memory *memory,
                          const Elf64_Sym *symbol, const char *name)
{
    uint64_t room;
    const char *bytes =
        symbol->st_shndx != SHN_UNDEF ? bytes_at(elf, memory, symbol->st_value, &room) : NULL;
    if (bytes == NULL || symbol->st_size > room)
        return 0;
    if (symbol->st_size > 1 && bytes[1] == '(') {
        elf->why = "it was compiled with rex/kernel.h of librex 0.1: rebuild it";
        return -1;
    }
    return rex_signature_read_numbers(view, name, bytes, symbol->st_size);
}

/* Signatures that lie over each other would take the square of the file's size to read. */
static int read_signatures(struct rex_view *view, struct rex_elf *elf, const Elf64_Shdr *symbols)
{
    struct memory memory = {NULL, 0};
    uint64_t total = 0;
    int result = 0;
    for (size_t i = 1; result == 0 && i < rex_elf_symbols(symbols); i++) {
        Elf64_Sym symbol;
        const char *name;
        if (rex_elf_symbol(elf, symbols, i, &symbol, &name) != 0 || rex_signature_of(name) == NULL)
            continue;
        if (symbol.st_size > elf->size - total) {
            elf->why = "its signatures take more bytes than the file has";
            result = -1;
        } else if (memory.pieces == NULL && find_memory(elf, &memory) != 0)
            result = -1;
        else
            result = read_signature(view, elf, &memory, &symbol, rex_signature_of(name));
        total += symbol.st_size;
    }
    free(memory.pieces);
    return result;
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
    if (rex_elf_section(elf, relocations->sh_link, &symbols) != 0 ||
        rex_elf_symbol(elf, &symbols, index, &symbol, &name) != 0)
        return 0;
    return symbol.st_value + (uint64_t)rela->r_addend;
}

static void apply_relocations(struct rex_view *view, const struct rex_elf *elf,
                              const struct memory *memory, const Elf64_Shdr *entries,
                              const Elf64_Shdr *relocations)
{
    Elf64_Rela rela;
    for (uint64_t at = 0; at + sizeof rela <= relocations->sh_size; at += sizeof rela) {
        memcpy(&rela, elf->bytes + relocations->sh_offset + at, sizeof rela);
        uint64_t into = rela.r_offset - entries->sh_addr; /* beyond all sizes in front of it */
        if (into < entries->sh_size && into % ENTRY_SIZE == ENTRY_NAME)
            view->positions[into / ENTRY_SIZE] =
                string_at(elf, memory, relocated(elf, relocations, &rela));
    }
}

/*
 * Those of all sections. No linker makes more than the file has bytes: they would lie over each
 * other.
 */
static int apply_all_relocations(struct rex_view *view, struct rex_elf *elf,
                                 const struct memory *memory, const Elf64_Shdr *entries)
{
    uint64_t total = 0;
    Elf64_Shdr section;
    for (size_t i = 0; rex_elf_section(elf, i, &section) == 0; i++) {
        if (section.sh_type != SHT_RELA || !(section.sh_flags & SHF_ALLOC))
            continue;
        total += section.sh_size;
        if (total > elf->size) {
            elf->why = "its relocations take more bytes than the file has";
            return -1;
        }
        apply_relocations(view, elf, memory, entries, &section);
    }
    return 0;
}

static int name_positions(struct rex_view *view, struct rex_elf *elf, const struct memory *memory,
                          const Elf64_Shdr *entries)
{
    for (size_t i = 0; i < view->position_count; i++) {
        uint64_t address;
        memcpy(&address, elf->bytes + entries->sh_offset + i * ENTRY_SIZE + ENTRY_NAME,
               sizeof address);
        view->positions[i] = string_at(elf, memory, address);
    }
    if (apply_all_relocations(view, elf, memory, entries) != 0)
        return -1;
    for (size_t i = 0; i < view->position_count; i++)
        if (view->positions[i] == NULL) {
            elf->why = "an entry of its section " ENTRY_SECTION " has no name";
            return -1;
        }
    return 0;
}

/*
 * Names are pointers that the loader fills in: they are in the relocations, or in place where those
 * are packed (RELR).
 */
static int read_positions(struct rex_view *view, struct rex_elf *elf, const Elf64_Shdr *entries)
{
    struct memory memory;
    if (entries->sh_type == SHT_NOBITS || entries->sh_size % ENTRY_SIZE != 0) {
        elf->why =
            "the length of its section " ENTRY_SECTION " is no multiple of an entry's 32 bytes";
        return -1;
    }
    view->position_count = entries->sh_size / ENTRY_SIZE;
    view->positions = calloc(view->position_count + 1, sizeof *view->positions);
    if (view->positions == NULL || find_memory(elf, &memory) != 0)
        return -1;
    int result = name_positions(view, elf, &memory, entries);
    free(memory.pieces);
    return result;
}

int rex_host_image_read(struct rex_view *view, struct rex_elf *elf)
{
    Elf64_Shdr symbols, entries;
    Elf64_Sym symbol;
    const char *name;
    if (rex_elf_find_type(elf, SHT_DYNSYM, &symbols) != 0) {
        elf->why = "it exports nothing";
        return -1;
    }
    for (size_t i = 1; i < rex_elf_symbols(&symbols); i++)
        if (rex_elf_symbol(elf, &symbols, i, &symbol, &name) == 0 &&
            add_symbol(view, &symbol, name) != 0)
            return -1;
    if (rex_view_index(view) != 0 || read_signatures(view, elf, &symbols) != 0)
        return -1;
    find_calls(view, elf, &symbols);
    return rex_elf_find(elf, ENTRY_SECTION, &entries) == 0 ? read_positions(view, elf, &entries)
                                                           : 0;
}
