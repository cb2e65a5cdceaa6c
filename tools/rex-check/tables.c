/*
 * tables.c - reads the sections of entries, and the entries in them.
 *
 * An entry is a row of 32 bytes (clang up to 19, gcc, hand-written), or of 56 (clang 20 and later;
 * clang 20 uses the old section). In tables of another layout, symbols give the place of each
 * entry.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "program.h"

#define OLD_SECTION "omp_offloading_entries"
#define NEW_SECTION "llvm_offload_entries"
#define NEW_VERSION 1
#define KIND_OPENMP 1
#define FLAG_LINK 0x01     /* a global of declare target link */
#define FLAG_REQUIRES 0x10 /* flags of `requires`: not a kernel or global */
/*
 * The entry is for a function that is not launched: the function runs when the image is loaded or
 * unloaded.
 */
#define FLAG_CONSTRUCTOR 0x02
#define FLAG_DESTRUCTOR 0x04

/*
 * Returns true if BYTES begin with an entry of the newer form: 64 bits that are 0, then a version.
 * clang 20 writes entries of the newer form to the section of the older form.
 */
static bool looks_newer(const unsigned char *bytes, uint64_t size)
{
    uint64_t zero;
    uint16_t version;
    if (bytes == NULL || size < NEW_SIZE || size % NEW_SIZE != 0)
        return false;
    memcpy(&zero, bytes, sizeof zero);
    memcpy(&version, bytes + sizeof zero, sizeof version);
    return zero == 0 && version == NEW_VERSION;
}

static void add_table(struct program *program, size_t index, const Elf64_Shdr *section, bool newer)
{
    struct elf_place begin = {0, section->sh_addr};
    if (elf_is_object(&program->file))
        begin = (struct elf_place){index, 0};
    program->tables = tool_grow(program->tables, program->table_count, sizeof *program->tables);
    program->tables[program->table_count++] =
        (struct table){.name = newer ? NEW_SECTION : OLD_SECTION,
                       .section = index,
                       .begin = begin,
                       .size = section->sh_size,
                       .alignment = section->sh_addralign,
                       .newer = newer};
}

static int compare_tables(const void *a, const void *b, void *context)
{
    const struct program *program = context;
    size_t one = *(const size_t *)a, other = *(const size_t *)b;
    int order = elf_compare_places(program->tables[one].begin, program->tables[other].begin);
    return order != 0 ? order : one < other ? -1 : one > other;
}

static void sort_tables(struct program *program)
{
    program->tables_by_place = tool_alloc(program->table_count, sizeof *program->tables_by_place);
    for (size_t i = 0; i < program->table_count; i++)
        program->tables_by_place[i] = i;
    qsort_r(program->tables_by_place, program->table_count, sizeof *program->tables_by_place,
            compare_tables, program);
}

/*
 * Returns an error for relocations of an unknown form. If they were ignored, the pointers of the
 * entries would seem to be empty.
 */
static int check_relocations(struct program *program)
{
    enum { CREL = 0x40000014 }; /* clang -Wa,--crel */
    Elf64_Shdr section;
    for (size_t i = 1;
         elf_is_object(&program->file) && rex_elf_section(&program->file.elf, i, &section); i++) {
        bool unread = section.sh_type == SHT_REL || section.sh_type == CREL;
        size_t table =
            unread ? program_table_at(program, (struct elf_place){section.sh_info, 0}) : NO_TABLE;
        if (table != NO_TABLE) {
            snprintf(program->file.why, sizeof program->file.why,
                     "the relocations of its %s have the unsupported format %s",
                     program->tables[table].name, section.sh_type == CREL ? "CREL" : "REL");
            return -1;
        }
    }
    return 0;
}

int tables_find(struct program *program)
{
    Elf64_Shdr section;
    uint64_t total = 0;
    for (size_t i = 1; rex_elf_section(&program->file.elf, i, &section); i++) {
        const char *name = rex_elf_section_name(&program->file.elf, &section);
        bool newer = strcmp(name, NEW_SECTION) == 0;
        if ((!newer && strcmp(name, OLD_SECTION) != 0) || section.sh_size == 0)
            continue;
        const unsigned char *bytes = rex_elf_section_bytes(&program->file.elf, &section);
        total +=
            section.sh_size < program->file.elf.size ? section.sh_size : program->file.elf.size + 1;
        if (bytes == NULL || total > program->file.elf.size) {
            snprintf(program->file.why, sizeof program->file.why,
                     "its section %s reaches past the end of the file", name);
            return -1;
        }
        add_table(program, i, &section, newer);
        struct table *table = &program->tables[program->table_count - 1];
        table->newer |= looks_newer(bytes, section.sh_size);
    }
    sort_tables(program);
    return check_relocations(program);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum row_kind kind_of(const struct row *row, uint32_t flags, unsigned kind)
{
    if (kind != KIND_OPENMP || flags & FLAG_REQUIRES)
        return ROW_OTHER;
    if (row->size > 0 || flags & FLAG_LINK)
        return ROW_GLOBAL;
    return flags & (FLAG_CONSTRUCTOR | FLAG_DESTRUCTOR) ? ROW_OTHER : ROW_KERNEL;
}

/*
 * Adds the entry at PLACE as a row. Reads only the numbers of the entry; pointers_read() reads the
 * entry's pointers.
 */
static void add_row(struct program *program, size_t table, size_t index, struct elf_place place,
                    const char *symbol)
{
    struct row row = {.table = table, .index = index, .place = place, .symbol = symbol};
    bool newer = program->tables[table].newer;
    uint64_t room, needed = newer ? 40 : 28;
    const unsigned char *bytes = elf_at(&program->file, place, &room);
    uint32_t flags = 0;
    uint16_t kind = KIND_OPENMP;
    if (bytes != NULL && room >= needed) {
        memcpy(&row.size, bytes + (newer ? 32 : 16), sizeof row.size);
        memcpy(&flags, bytes + (newer ? 12 : 24), sizeof flags);
        if (newer)
            memcpy(&kind, bytes + 10, sizeof kind);
    }
    row.kind = kind_of(&row, flags, kind);
    program->rows = tool_grow(program->rows, program->row_count, sizeof *program->rows);
    program->rows[program->row_count++] = row;
}

static uint64_t into_table(const struct table *table, const struct elf_symbol *symbol)
{
    return symbol->place.offset - table->begin.offset;
}

/* Counts the symbols of each table, then lists them in the order of their places. */
static void list_symbols(struct program *program)
{
    size_t total = 0;
    for (size_t i = 0; i < program->entry_symbol_count; i++)
        if (program->entry_symbols[i].table != NO_TABLE)
            program->tables[program->entry_symbols[i].table].symbol_count++;
    for (size_t i = 0; i < program->table_count; i++) {
        program->tables[i].first_symbol = total;
        total += program->tables[i].symbol_count;
        program->tables[i].symbol_count = 0;
    }
    program->entry_symbols_of_tables = tool_alloc(total, sizeof *program->entry_symbols_of_tables);
    for (size_t i = 0; i < program->entry_symbol_count; i++)
        if (program->entry_symbols[i].table != NO_TABLE) {
            struct table *table = &program->tables[program->entry_symbols[i].table];
            program->entry_symbols_of_tables[table->first_symbol + table->symbol_count++] =
                &program->entry_symbols[i];
        }
}

static const struct elf_symbol *symbol_of(const struct program *program, const struct table *table,
                                          size_t index)
{
    return &program->entry_symbols_of_tables[table->first_symbol + index]->symbol;
}

/* Returns true if the places of the symbols show that the entries are not adjacent. */
static bool disordered(const struct program *program, const struct table *table)
{
    size_t size = table_entry_size(table);
    for (size_t i = 0; i < table->symbol_count; i++) {
        const struct elf_symbol *entry = symbol_of(program, table, i);
        if (into_table(table, entry) % size != 0 || (entry->size != 0 && entry->size != size))
            return true;
    }
    return false;
}

static void rows_by_symbols(struct program *program, size_t table)
{
    for (size_t i = 0; i < program->tables[table].symbol_count; i++) {
        const struct elf_symbol *entry = symbol_of(program, &program->tables[table], i);
        add_row(program, table, i, entry->place, entry->name);
    }
}

static void rows_by_size(struct program *program, size_t table)
{
    const struct table *of = &program->tables[table];
    size_t size = table_entry_size(of), symbol = 0;
    for (uint64_t i = 0; i < of->size / size; i++) {
        struct elf_place place = {of->begin.section, of->begin.offset + i * size};
        const char *name = NULL;
        /* Rows and symbols are both sorted by place. */
        while (symbol < of->symbol_count &&
               elf_compare_places(symbol_of(program, of, symbol)->place, place) < 0)
            symbol++;
        if (symbol < of->symbol_count &&
            elf_compare_places(symbol_of(program, of, symbol)->place, place) == 0)
            name = symbol_of(program, of, symbol)->name;
        add_row(program, table, (size_t)i, place, name);
    }
}

void tables_read(struct program *program)
{
    list_symbols(program);
    for (size_t i = 0; i < program->table_count; i++) {
        struct table *table = &program->tables[i];
        table->first_row = program->row_count;
        table->disordered = disordered(program, table);
        if (table->disordered)
            rows_by_symbols(program, i);
        else
            rows_by_size(program, i);
        table->row_count = program->row_count - table->first_row;
    }
}
