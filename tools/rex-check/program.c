/*
 * program.c - queries on a program that was read.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "program.h"

#include <stdio.h>
#include <string.h>

#include "common/memory.h"

#define MOST_SITES 10000 /* further sites are counted, but not listed */

const char *program_kind(const struct program *program, char buffer[96])
{
    static const char *const types[] = {
        [ET_REL] = "object", [ET_EXEC] = "program", [ET_DYN] = "shared object"};
    const Elf64_Ehdr *header = &program->file.elf.header;
    const char *type = types[header->e_type];
    char number[ELF_MACHINE_MAX];
    Elf64_Phdr interpreter;
    /* A position-independent program is a shared object with an interpreter. */
    if (header->e_type == ET_DYN &&
        rex_elf_find_segment(&program->file.elf, PT_INTERP, &interpreter))
        type = "program, position-independent";
    snprintf(buffer, 96, "%s %s", elf_machine_name(header->e_machine, number), type);
    return buffer;
}

static bool begins_with(const char *name, const char *prefix)
{
    return name != NULL && strncmp(name, prefix, strlen(prefix)) == 0;
}

bool row_is_clangs(const struct row *row)
{
    return begins_with(row->symbol, ".omp_offloading.entry.") ||
           begins_with(row->symbol, ".offloading.entry.") ||
           begins_with(row->name, "__omp_offloading_");
}

/*
 * Returns true if ROW can be only in the table of a host image, not in the table of a program. The
 * function recognises two kinds of rows:
 * - A row that rex/kernel.h has written for LLVM 14 and 15. The symbol of the row begins with
 *   `rex_entry_of_`.
 * - A row that clang has written into a host image, for a kernel. The key in the row is the symbol
 *   of the kernel itself.
 */
bool row_is_images(const struct row *row)
{
    if (begins_with(row->symbol, "rex_entry_of_"))
        return true;
    return row_is_clangs(row) && row->kind == ROW_KERNEL && row->key.symbol != NULL &&
           row->name != NULL && strcmp(row->key.symbol, row->name) == 0;
}

bool program_is_image(const struct program *program)
{
    for (size_t i = 0; i < program->row_count; i++)
        if (row_is_images(&program->rows[i]))
            return true;
    return false;
}

bool program_is_by_name(const struct program *program)
{
    return program->loads_libraries && program->table_count == 0 &&
           program->entry_symbol_count == 0 && program->key_count == 0;
}

size_t table_entry_size(const struct table *table)
{
    return table->newer ? NEW_SIZE : OLD_SIZE;
}

/*
 * Only the last table that begins at or before PLACE can contain PLACE. Tables overlap only in a
 * forged file.
 */
size_t program_table_at(const struct program *program, struct elf_place place)
{
    size_t low = 0, high = program->table_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (elf_compare_places(program->tables[program->tables_by_place[middle]].begin, place) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t number = low > 0 ? program->tables_by_place[low - 1] : NO_TABLE;
    const struct table *table = number != NO_TABLE ? &program->tables[number] : NULL;
    bool inside = table != NULL && place.section == table->begin.section &&
                  place.offset - table->begin.offset < table->size;
    return inside ? number : NO_TABLE;
}

struct key *program_key_at(const struct program *program, struct elf_place place)
{
    size_t low = 0, high = program->key_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (elf_compare_places(program->keys[middle].place, place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < program->key_count && elf_compare_places(program->keys[low].place, place) == 0
               ? &program->keys[low]
               : NULL;
}

void program_add_site(struct program *program, const char *key, bool elsewhere,
                      struct elf_place place, const char *section)
{
    if (program->site_count == MOST_SITES)
        return;
    program->sites = tool_grow(program->sites, program->site_count, sizeof *program->sites);
    program->sites[program->site_count++] =
        (struct site){.key = key, .elsewhere = elsewhere, .section = section, .place = place};
}
