/*
 * hostimage.c - read a host shared object: kernels, globals, and its own entry table.
 *
 * libomptarget's host device opens it with the loader and looks kernels up by name (16 on), or takes the rows of its section
 * `omp_offloading_entries` by position (14 and 15).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "view.h"

#define ENTRY_SECTION "omp_offloading_entries"
#define ENTRY_SIZE 32
#define ENTRY_NAME 8 /* offset of the name */

#define ENV_PREFIX "rex_env_"

static int add_symbol(struct rex_image_view *view, const Elf64_Sym *symbol, const char *name)
{
    struct rex_image_symbol found = {.name = name, .size = symbol->st_size, .parameters = REX_PARAMETERS_UNKNOWN, .exec_mode = -1};
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || *name == '\0' || (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE))
        return 0;
    found.kernel = type == STT_FUNC;
    return rex_view_add(view, &found);
}

static void mark_env_kernels(struct rex_image_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const char *name = view->symbols[i].name;
        struct rex_image_symbol *kernel =
            strncmp(name, ENV_PREFIX, strlen(ENV_PREFIX)) == 0 ? rex_view_find(view, name + strlen(ENV_PREFIX)) : NULL;
        if (kernel != NULL)
            kernel->env = true;
    }
}

/* The string at virtual address ADDRESS, NULL if it does not end inside its section. */
static const char *string_at(const struct rex_elf *elf, uint64_t address)
{
    Elf64_Shdr section;
    for (size_t i = 0; rex_elf_section(elf, i, &section) == 0; i++) {
        uint64_t into = address - section.sh_addr;
        if (!(section.sh_flags & SHF_ALLOC) || section.sh_type == SHT_NOBITS || address < section.sh_addr ||
            into >= section.sh_size)
            continue;
        const char *string = (const char *)elf->bytes + section.sh_offset + into;
        return memchr(string, '\0', section.sh_size - into) != NULL ? string : NULL;
    }
    return NULL;
}

/* The value that relocation RELA stores: an address in the image, or that of one of its symbols. */
static uint64_t relocated(const struct rex_elf *elf, const Elf64_Shdr *relocations, const Elf64_Rela *rela)
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

static void apply_relocations(struct rex_image_view *view, const struct rex_elf *elf, const Elf64_Shdr *entries,
                              const Elf64_Shdr *relocations)
{
    Elf64_Rela rela;
    for (uint64_t at = 0; at + sizeof rela <= relocations->sh_size; at += sizeof rela) {
        memcpy(&rela, elf->bytes + relocations->sh_offset + at, sizeof rela);
        uint64_t into = rela.r_offset - entries->sh_addr;
        if (rela.r_offset >= entries->sh_addr && into < entries->sh_size && into % ENTRY_SIZE == ENTRY_NAME &&
            into / ENTRY_SIZE < view->position_count)
            view->positions[into / ENTRY_SIZE] = string_at(elf, relocated(elf, relocations, &rela));
    }
}

/* Names are pointers that the loader fills in: they are in the relocations, or in place where those are packed (RELR). */
static int read_positions(struct rex_image_view *view, struct rex_elf *elf, const Elf64_Shdr *entries)
{
    Elf64_Shdr section;
    if (entries->sh_type == SHT_NOBITS || entries->sh_size % ENTRY_SIZE != 0) {
        elf->why = "the length of its section " ENTRY_SECTION " is no multiple of an entry's 32 bytes";
        return -1;
    }
    view->position_count = entries->sh_size / ENTRY_SIZE;
    view->positions = calloc(view->position_count + 1, sizeof *view->positions);
    if (view->positions == NULL)
        return -1;
    for (size_t i = 0; i < view->position_count; i++) {
        uint64_t address;
        memcpy(&address, elf->bytes + entries->sh_offset + i * ENTRY_SIZE + ENTRY_NAME, sizeof address);
        view->positions[i] = address != 0 ? string_at(elf, address) : NULL;
    }
    for (size_t i = 0; rex_elf_section(elf, i, &section) == 0; i++)
        if (section.sh_type == SHT_RELA && section.sh_flags & SHF_ALLOC)
            apply_relocations(view, elf, entries, &section);
    for (size_t i = 0; i < view->position_count; i++)
        if (view->positions[i] == NULL) {
            elf->why = "an entry of its section " ENTRY_SECTION " has no name";
            return -1;
        }
    return 0;
}

int rex_host_image_read(struct rex_image_view *view, struct rex_elf *elf)
{
    Elf64_Shdr symbols, entries;
    Elf64_Sym symbol;
    const char *name;
    if (rex_elf_find_type(elf, SHT_DYNSYM, &symbols) != 0) {
        elf->why = "it exports nothing";
        return -1;
    }
    for (size_t i = 1; i < rex_elf_symbols(&symbols); i++)
        if (rex_elf_symbol(elf, &symbols, i, &symbol, &name) == 0 && add_symbol(view, &symbol, name) != 0)
            return -1;
    if (rex_view_index(view) != 0)
        return -1;
    mark_env_kernels(view);
    return rex_elf_find(elf, ENTRY_SECTION, &entries) == 0 ? read_positions(view, elf, &entries) : 0;
}
