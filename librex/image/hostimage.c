/*
 * hostimage.c - reads host images: their symbols, signatures and entry tables.
 *
 * libomptarget's host device opens a host image with the loader. LLVM 16 and later find a kernel by
 * its name. LLVM 14 and 15 find a kernel by the position of its row in the section
 * `omp_offloading_entries`.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image/hostimage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_SECTION "omp_offloading_entries"
#define ENTRY_SIZE 32
#define ENTRY_NAME 8            /* offset of the name's address in an entry */
#define CALL_PREFIX "rex_call_" /* prefix of the function that calls a kernel (rex/kernel.h) */

/* ---- the entry table ------------------------------------------------------------------------- */

/* Returns the string at ADDRESS, or NULL if the string does not end inside its section. */
static const char *host_string_at(const struct rex_elf *elf, uint64_t address)
{
    uint64_t room = 0;
    const unsigned char *bytes = rex_elf_at(elf, address, &room);
    return rex_elf_string_within(bytes, room);
}

/*
 * Reads the names of the entries. An entry has a pointer to its name; the loader sets the pointer.
 * The file has the value of the pointer in a relocation, or in the entry itself if the relocations
 * are packed (RELR).
 */
static int read_entry_names(struct rex_view *view, struct rex_elf *elf, const Elf64_Shdr *entries)
{
    Elf64_Shdr section, symbols;
    Elf64_Rela rela;
    Elf64_Sym symbol;
    const char *name;
    if (entries->sh_type == SHT_NOBITS || entries->sh_size % ENTRY_SIZE != 0)
        return rex_elf_refuse(elf, "the length of its section " ENTRY_SECTION
                                   " is not a multiple of an entry's 32 bytes");
    view->position_count = entries->sh_size / ENTRY_SIZE;
    view->positions = calloc(view->position_count + 1, sizeof *view->positions);
    if (view->positions == NULL)
        return -1;
    for (size_t i = 0; i < view->position_count; i++) {
        uint64_t address;
        memcpy(&address, elf->bytes + entries->sh_offset + i * ENTRY_SIZE + ENTRY_NAME,
               sizeof address);
        view->positions[i] = host_string_at(elf, address);
    }
    /*
     * Refuse relocation sections that are together larger than the file. Such sections overlap: no
     * linker makes them, and reading them could take quadratic time.
     */
    uint64_t total = 0;
    for (size_t i = 0; rex_elf_section(elf, i, &section); i++) {
        if (section.sh_type != SHT_RELA || !(section.sh_flags & SHF_ALLOC))
            continue;
        total += section.sh_size;
        if (total > elf->size)
            return rex_elf_refuse(elf, "its relocations take more bytes than the file has");
        for (size_t at = 0; rex_elf_row(elf, &section, SHT_RELA, at, &rela, sizeof rela); at++) {
            /* `into` is a huge number if the address is before the section. */
            uint64_t into = rela.r_offset - entries->sh_addr;
            if (into >= entries->sh_size || into % ENTRY_SIZE != ENTRY_NAME)
                continue;
            /*
             * If the relocation has a symbol, the value is the address of the symbol plus the
             * addend. Otherwise the value is the addend.
             */
            uint64_t address = (uint64_t)rela.r_addend;
            size_t index = ELF64_R_SYM(rela.r_info);
            if (index != 0 && rex_elf_section(elf, section.sh_link, &symbols) &&
                rex_elf_symbol(elf, &symbols, index, &symbol, &name))
                address += symbol.st_value;
            else if (index != 0)
                address = 0;
            view->positions[into / ENTRY_SIZE] = host_string_at(elf, address);
        }
    }
    for (size_t i = 0; i < view->position_count; i++)
        if (view->positions[i] == NULL) {
            snprintf(elf->text, sizeof elf->text,
                     "entry %zu of its section " ENTRY_SECTION " has no name", i);
            return rex_elf_refuse(elf, elf->text);
        }
    return 0;
}

int rex_host_image_read(struct rex_view *view, struct rex_elf *elf)
{
    Elf64_Shdr symbols, section;
    Elf64_Sym symbol;
    const char *name;
    if (!rex_elf_find_type(elf, SHT_DYNSYM, &symbols))
        return rex_elf_refuse(elf, "it exports nothing");
    for (size_t i = 1; i < rex_elf_symbols(&symbols); i++) {
        if (!rex_elf_symbol(elf, &symbols, i, &symbol, &name))
            continue;
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        if (symbol.st_shndx == SHN_UNDEF || *name == '\0' ||
            rex_name_after(name, REX_SIGNATURE_PREFIX) != NULL ||
            rex_name_after(name, CALL_PREFIX) != NULL ||
            rex_name_after(name, REX_DETAIL_PREFIX) != NULL ||
            (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE))
            continue;
        const struct rex_image_symbol found = {.name = name,
                                               .kernel = type == STT_FUNC,
                                               .size = symbol.st_size,
                                               .parameters = REX_PARAMETERS_UNKNOWN,
                                               .exec_mode = -1};
        rex_view_add(view, &found);
    }
    if (rex_view_index(view) != 0)
        return -1;
    /*
     * Read the kernels' signatures and the functions that call the kernels. Refuse signatures that
     * overlap, because reading them would take quadratic time.
     */
    uint64_t total = 0, room;
    for (size_t i = 1; i < rex_elf_symbols(&symbols); i++) {
        if (!rex_elf_symbol(elf, &symbols, i, &symbol, &name) || symbol.st_shndx == SHN_UNDEF)
            continue;
        struct rex_image_symbol *kernel = rex_view_kernel_of(view, name, CALL_PREFIX, "");
        if (kernel != NULL)
            kernel->call = name;
        kernel = rex_view_kernel_of(view, name, REX_SIGNATURE_PREFIX, "");
        if (kernel == NULL)
            continue;
        if (symbol.st_size > elf->size - total)
            return rex_elf_refuse(elf, "its signatures take more bytes than the file has");
        total += symbol.st_size;
        const char *bytes = (const char *)rex_elf_at(elf, symbol.st_value, &room);
        if (bytes != NULL && symbol.st_size <= room)
            rex_signature_apply(view, kernel, bytes, bytes + symbol.st_size);
    }
    for (size_t i = 0; rex_elf_section(elf, i, &section); i++)
        if (strcmp(rex_elf_section_name(elf, &section), ENTRY_SECTION) == 0)
            return read_entry_names(view, elf, &section);
    return 0;
}
