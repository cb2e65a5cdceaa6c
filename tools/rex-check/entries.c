/*
 * entries.c - checks that libomptarget can read every entry, and that the key, the symbol and the
 * name of an entry agree.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "stem.h"

#define CLANG_SUFFIX ".region_id"

/* ---- the sections ---------------------------------------------------------------------------- */

static void check_outside(const struct program *program, struct report *report)
{
    for (size_t i = 0; i < program->entry_symbol_count; i++) {
        const struct entry_symbol *entry = &program->entry_symbols[i];
        if (entry->table == NO_TABLE)
            report_finding(
                report, FINDING_ENTRY_OUTSIDE, program->path, NULL,
                "%s is not in the section omp_offloading_entries, and no launch finds it: it "
                "lacks the section attribute",
                entry->symbol.name);
    }
}

/*
 * Reports that PROGRAM has no table of entries. Usually the report is a finding. In two cases the
 * report is only a note:
 * - PROGRAM is an object without host keys and entries: other files of the program may have the
 *   entries.
 * - PROGRAM finds its kernels by name.
 */
static void report_none(const struct program *program, struct report *report)
{
    bool object = elf_is_object(&program->file);
    if (object && program->key_count == 0 && program->entry_symbol_count == 0)
        report_note(
            report, program->path,
            "this object has no entries and no host keys; the program's other files may have them");
    else if (program_is_by_name(program))
        report_note(report, program->path,
                    "it has no entries, and finds its kernels by name: it calls "
                    "rex_library_load()");
    else
        report_finding(report, FINDING_NO_ENTRIES, program->path, NULL,
                       "there is no section omp_offloading_entries or llvm_offload_entries with "
                       "entries: no kernel can be launched%s",
                       object ? ""
                              : "; the linker may have dropped it: link with "
                                "-Wl,-z,nostart-stop-gc, and with -flto give the entries "
                                "__attribute__((used)) or link with -rdynamic");
}

/*
 * Checks that the size of table INDEX is a whole number of entries, and that the table is aligned
 * for the pointers in the entries. Does not check the alignment of a table with clang's own
 * entries, because x86-64 and aarch64 read unaligned pointers.
 */
static void check_length(const struct program *program, size_t index, struct report *report)
{
    const struct table *table = &program->tables[index];
    size_t size = table_entry_size(table);
    uint64_t alignment = elf_is_object(&program->file) ? table->alignment
                                                       : table->begin.offset & -table->begin.offset;
    if (table->size % size != 0)
        report_finding(report, FINDING_SECTION_LENGTH, program->path, NULL,
                       "%s is %llu bytes long, not a multiple of the %zu bytes of an entry",
                       table->name, (unsigned long long)table->size, size);
    if (alignment < sizeof(void *) && alignment > 0 && !table->clangs)
        report_finding(report, FINDING_ENTRY_SIZE, program->path, NULL,
                       "%s is aligned to %llu byte%s; the pointers in an entry need 8", table->name,
                       (unsigned long long)alignment, alignment == 1 ? "" : "s");
}

/*
 * Checks that the symbol ENTRY has size 0 or the size of an entry, and begins at an entry of its
 * table.
 */
static void check_symbol(const struct program *program, const struct entry_symbol *entry,
                         struct report *report)
{
    const struct table *table = &program->tables[entry->table];
    size_t size = table_entry_size(table);
    uint64_t into = entry->symbol.place.offset - table->begin.offset;
    if (entry->symbol.size != 0 && entry->symbol.size != size)
        report_finding(report, FINDING_ENTRY_SIZE, program->path, NULL,
                       "%s is %llu bytes; libomptarget reads rows of %zu (struct "
                       "__tgt_offload_entry of rex_kmp.h)",
                       entry->symbol.name, (unsigned long long)entry->symbol.size, size);
    else if (into % size != 0)
        report_finding(report, FINDING_ENTRY_SIZE, program->path, NULL,
                       "%s begins %llu bytes into %s; libomptarget reads a row every %zu bytes",
                       entry->symbol.name, (unsigned long long)into, table->name, size);
}

/* ---- one entry ------------------------------------------------------------------------------- */

/*
 * Returns the name of ROW in messages: the symbol of the entry, else the name in the entry, else
 * the number of the row. The caller frees the name.
 */
static char *called(const struct program *program, const struct row *row)
{
    if (row->symbol != NULL)
        return tool_format("entry %s", row->symbol);
    if (row->name != NULL)
        return tool_format("the entry of %s", row->name);
    return tool_format("row %zu of %s", row->index, program->tables[row->table].name);
}

static void check_filled(const struct program *program, const struct row *row, const char *who,
                         struct report *report)
{
    bool key = row->key.kind != TARGET_NULL, name = row->name != NULL;
    if (!key && !name && row->symbol != NULL)
        report_finding(report, FINDING_ENTRY_EMPTY, program->path, NULL,
                       "%s has neither key nor name", who);
    else if (!key && !name)
        report_finding(
            report, FINDING_ENTRY_EMPTY, program->path, NULL,
            "%s is empty, because compilers leave gaps between large structs: declare the entries "
            "aligned(8)",
            who);
    else if (!key || !name)
        report_finding(report, FINDING_ENTRY_EMPTY, program->path, NULL, "%s has no %s", who,
                       key ? "name" : "key");
}

/*
 * Returns true if SYMBOL is a key that clang makes for NAME: `.NAME.region_id` or `NAME.region_id`.
 */
static bool is_clangs(const char *symbol, const char *name)
{
    const char *plain = symbol + (*symbol == '.');
    size_t length = strlen(name);
    return strncmp(plain, name, length) == 0 && strcmp(plain + length, CLANG_SUFFIX) == 0;
}

/*
 * Finds the stem (stem.h) of the key of ROW. Returns false if the key has no stem. If a key without
 * a stem should have one, also adds a finding.
 */
static bool check_key(const struct program *program, const struct row *row, const char *who,
                      struct report *report, const char **stem, size_t *length)
{
    if (row->key.symbol == NULL) {
        if (program->all_symbols)
            report_finding(report, FINDING_KEY_SYMBOL, program->path, NULL,
                           "%s: its key is not the address of a symbol whose name ends in id__",
                           who);
        return false;
    }
    if (is_clangs(row->key.symbol, row->name) || row_is_images(row))
        return false;
    if (name_stem(row->key.symbol, KEY_SUFFIX, stem, length))
        return true;
    report_finding(report, FINDING_KEY_SYMBOL, program->path, NULL,
                   "%s: its key is %s, whose name does not end in id__", who, row->key.symbol);
    return false;
}

static void check_stems(const struct program *program, const struct row *row, const char *who,
                        struct report *report, const char *stem, size_t length)
{
    const char *other;
    size_t other_length;
    size_t name_length = strlen(row->name), suffix = strlen(NAME_SUFFIX);
    bool name_agrees = name_length == length + suffix && memcmp(row->name, stem, length) == 0 &&
                       strcmp(row->name + length, NAME_SUFFIX) == 0;
    bool symbol_agrees = row->symbol == NULL ||
                         !name_stem(row->symbol, ENTRY_SUFFIX, &other, &other_length) ||
                         (other_length == length && memcmp(other, stem, length) == 0);
    if (!name_agrees)
        report_finding(report, FINDING_NAME_DRIFT, program->path, NULL,
                       "%s: its key is %s, so its kernel must be named %.*s" NAME_SUFFIX
                       ", but is named %s",
                       who, row->key.symbol, (int)length, stem, row->name);
    else if (!symbol_agrees)
        report_finding(
            report, FINDING_NAME_DRIFT, program->path, NULL,
            "%s: its key and its kernel begin with %.*s: rename the entry to %.*s" ENTRY_SUFFIX,
            who, (int)length, stem, (int)length, stem);
}

static void check_row(const struct program *program, const struct row *row, struct report *report)
{
    const char *stem;
    size_t length;
    if (row->kind == ROW_OTHER)
        return;
    char *who = called(program, row);
    check_filled(program, row, who, report);
    if (row->key.kind != TARGET_NULL && row->name != NULL && row->kind == ROW_KERNEL &&
        check_key(program, row, who, report, &stem, &length))
        check_stems(program, row, who, report, stem, length);
    free(who);
}

/* ---- entries compared with each other -------------------------------------------------------- */

static int compare_by_key(const void *a, const void *b)
{
    const struct row *one = *(const struct row *const *)a, *other = *(const struct row *const *)b;
    if (one->key.kind != other->key.kind)
        return one->key.kind < other->key.kind ? -1 : 1;
    int order = one->key.kind == TARGET_IMPORT
                    ? strcmp(one->key.symbol, other->key.symbol)
                    : elf_compare_places(one->key.place, other->key.place);
    return order != 0 ? order : elf_compare_places(one->place, other->place);
}

static int compare_by_name(const void *a, const void *b)
{
    const struct row *one = *(const struct row *const *)a, *other = *(const struct row *const *)b;
    int order = strcmp(one->name, other->name);
    return order != 0 ? order : elf_compare_places(one->place, other->place);
}

static bool same_key(const struct row *one, const struct row *other)
{
    if (one->key.kind != other->key.kind)
        return false;
    return one->key.kind == TARGET_IMPORT
               ? strcmp(one->key.symbol, other->key.symbol) == 0
               : elf_compare_places(one->key.place, other->key.place) == 0;
}

/*
 * clang puts the entry of an inline function, a template or a weak variable into each object with
 * that function or variable. The linker merges the copies of the key and the kernel, but leaves all
 * entries in the table.
 */
static bool is_same_entry(const struct program *program, const struct row *one,
                          const struct row *other)
{
    bool clangs = one->kind == ROW_GLOBAL ? program->tables[one->table].clangs : row_is_clangs(one);
    return clangs && one->kind == other->kind && one->size == other->size && same_key(one, other) &&
           strcmp(one->name, other->name) == 0;
}

static void check_neighbours(const struct program *program, const struct row *one,
                             const struct row *other, bool keys, struct report *report)
{
    if (is_same_entry(program, one, other))
        return;
    char *who = called(program, one), *whom = called(program, other);
    bool are_globals = one->kind == ROW_GLOBAL && other->kind == ROW_GLOBAL;
    if (keys && same_key(one, other))
        report_finding(
            report, FINDING_KEY_SHARED, program->path, NULL, "%s and %s have the same %s%s%s: %s",
            who, whom, are_globals ? "host variable" : "key", one->key.symbol != NULL ? ", " : "",
            one->key.symbol != NULL ? one->key.symbol : "",
            are_globals ? "give each global its own variable"
                        : "each launch with this key runs the kernel of the first entry");
    if (!keys && strcmp(one->name, other->name) == 0)
        report_finding(report, FINDING_NAME_SHARED, program->path, NULL, "%s and %s both name %s",
                       who, whom, one->name);
    free(who);
    free(whom);
}

static void check_shared(const struct program *program, struct report *report)
{
    const struct row **rows = tool_alloc(program->row_count, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < program->row_count; i++)
        if (program->rows[i].kind != ROW_OTHER && program->rows[i].key.kind != TARGET_NULL &&
            program->rows[i].name != NULL)
            rows[count++] = &program->rows[i];
    for (int keys = 1; keys >= 0; keys--) {
        qsort(rows, count, sizeof *rows, keys ? compare_by_key : compare_by_name);
        for (size_t i = 1; i < count; i++)
            check_neighbours(program, rows[i - 1], rows[i], keys, report);
    }
    free(rows);
}

void check_entries(const struct program *program, struct report *report)
{
    check_outside(program, report);
    if (program->table_count == 0)
        report_none(program, report);
    for (size_t i = 0; i < program->table_count; i++)
        check_length(program, i, report);
    for (size_t i = 0; i < program->entry_symbol_count; i++)
        if (program->entry_symbols[i].table != NO_TABLE)
            check_symbol(program, &program->entry_symbols[i], report);
    for (size_t i = 0; i < program->row_count; i++)
        check_row(program, &program->rows[i], report);
    check_shared(program, report);
    if (program_is_image(program))
        report_note(report, program->path,
                    "it is an image for the CPU: give the program first, then its images");
    if (program->row_count > 0 && !program->all_symbols)
        report_note(report, program->path, "it is stripped: the names of keys and entries are %s",
                    program->symbols ? "known only if exported" : "unknown");
}
