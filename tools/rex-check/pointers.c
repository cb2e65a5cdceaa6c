/*
 * pointers.c - reads pointers in a file that is not loaded.
 *
 * In an object a pointer is a relocation with a symbol. In a linked file a pointer is the bytes at
 * its place. If the loader may choose the load address, a pointer is instead a relocation that adds
 * the load address. Linkers that pack such relocations (RELR) leave the address in the bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "pointers.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/*
 * If the file is linked, reads the target of POINTER from the bytes of POINTER. If the file is an
 * object, the target is TARGET_NULL: a relocation has the real target.
 */
static void read_in_place(const struct program *program, struct pointer *pointer)
{
    uint64_t room;
    uint64_t address = 0;
    const unsigned char *bytes =
        elf_is_object(&program->file) ? NULL : elf_at(&program->file, pointer->at, &room);
    if (bytes != NULL && room >= sizeof address)
        memcpy(&address, bytes, sizeof address);
    pointer->target =
        (struct target){address != 0 ? TARGET_PLACE : TARGET_NULL, {0, address}, NULL};
}

struct target pointer_target(const struct elf_relocation *relocation,
                             const struct elf_symbols *symbols)
{
    struct elf_symbol symbol;
    uint64_t addend = (uint64_t)relocation->addend;
    if (relocation->symbol == 0 || elf_symbol(symbols, relocation->symbol, &symbol) != 0)
        return (struct target){TARGET_PLACE, {0, addend}, NULL};
    const char *name =
        symbol.type != STT_SECTION && *symbol.name != '\0' && addend == 0 ? symbol.name : NULL;
    if (!symbol.defined)
        return (struct target){name != NULL ? TARGET_IMPORT : TARGET_NULL, {0, 0}, name};
    return (struct target){
        TARGET_PLACE, {symbol.place.section, symbol.place.offset + addend}, name};
}

/*
 * Returns the index of the first pointer at or after PLACE; COUNT if there is none. POINTERS must
 * be sorted by place.
 */
static size_t first_from(const struct pointer *pointers, size_t count, struct elf_place place)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (elf_compare_places(pointers[middle].at, place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct pointer *pointer_at(struct pointer *pointers, size_t count, struct elf_place place)
{
    size_t index = first_from(pointers, count, place);
    return index < count && elf_compare_places(pointers[index].at, place) == 0 ? &pointers[index]
                                                                               : NULL;
}

static void apply(const struct program *program, const Elf64_Shdr *section,
                  struct pointer *pointers, size_t count, uint64_t *budget)
{
    struct elf_relocation relocation;
    struct elf_symbols symbols = {0};
    elf_symbols_of(&program->file, section->sh_link, &symbols);
    for (size_t next = 0;
         *budget > 0 && elf_next_relocation(&program->file, section, &next, &relocation);
         --*budget) {
        struct elf_place place = {elf_is_object(&program->file) ? section->sh_info : 0,
                                  relocation.offset};
        struct pointer *pointer = pointer_at(pointers, count, place);
        if (pointer != NULL)
            pointer->target = pointer_target(&relocation, &symbols);
    }
}

/* Returns true if SECTION may have a relocation for one of the COUNT pointers. */
static bool relevant(const struct program *program, const Elf64_Shdr *section,
                     const struct pointer *pointers, size_t count)
{
    if (section->sh_type != SHT_RELA)
        return false;
    if (!elf_is_object(&program->file))
        return section->sh_flags & SHF_ALLOC;
    size_t first = first_from(pointers, count, (struct elf_place){section->sh_info, 0});
    return first < count && pointers[first].at.section == section->sh_info;
}

/*
 * The sections of a forged file may overlap. So `budget` limits how many relocations are read from
 * all sections together. The limit is the number of relocations that fits into the file.
 */
void pointers_resolve(const struct program *program, struct pointer *pointers, size_t count)
{
    uint64_t budget = program->file.elf.size / sizeof(Elf64_Rela);
    Elf64_Shdr section;
    for (size_t i = 0; i < count; i++)
        read_in_place(program, &pointers[i]);
    for (size_t i = 1; rex_elf_section(&program->file.elf, i, &section); i++)
        if (relevant(program, &section, pointers, count))
            apply(program, &section, pointers, count, &budget);
}

static int compare_pointers(const void *a, const void *b)
{
    const struct pointer *one = a, *other = b;
    return elf_compare_places(one->at, other->at);
}

/* For each entry, finds the targets of two pointers: the key and the name. */
void pointers_read(struct program *program)
{
    struct pointer *pointers = tool_alloc(program->row_count * 2, sizeof *pointers);
    for (size_t i = 0; i < program->row_count; i++) {
        struct elf_place place = program->rows[i].place;
        size_t key = program->tables[program->rows[i].table].newer ? 16 : 0;
        pointers[2 * i].at = (struct elf_place){place.section, place.offset + key};
        pointers[2 * i + 1].at = (struct elf_place){place.section, place.offset + key + 8};
    }
    /*
     * Sort, because entries of a broken table may overlap, and tables of a linked file need not be
     * in order.
     */
    struct pointer *sorted = tool_alloc(program->row_count * 2, sizeof *sorted);
    memcpy(sorted, pointers, program->row_count * 2 * sizeof *sorted);
    qsort(sorted, program->row_count * 2, sizeof *sorted, compare_pointers);
    pointers_resolve(program, sorted, program->row_count * 2);
    for (size_t i = 0; i < program->row_count; i++) {
        struct row *row = &program->rows[i];
        row->key = pointer_at(sorted, program->row_count * 2, pointers[2 * i].at)->target;
        row->name_at = pointer_at(sorted, program->row_count * 2, pointers[2 * i + 1].at)->target;
        row->name = row->name_at.kind == TARGET_PLACE
                        ? elf_string_at(&program->file, row->name_at.place)
                        : NULL;
        if (row->name != NULL && *row->name == '\0')
            row->name = NULL;
    }
    free(sorted);
    free(pointers);
}
