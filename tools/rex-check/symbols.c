/*
 * symbols.c - reads symbols: host keys, entries, and the symbols that entries point to.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include "common/elfsymbols.h"
#include "common/memory.h"
#include "stem.h"

#define MODULE "rex_this_module"
#define LOADER "rex_library_load" /* a linked program may append the version: @REX_0.2 */

static bool all_symbols(const struct program *program, struct elf_symbols *symbols)
{
    bool full;
    return elf_symbols_of(&program->file, elf_symbol_table(&program->file, &full), symbols) == 0;
}

/* ---- keys and entries, by their names -------------------------------------------------------- */

static void add_key(struct program *program, const struct elf_symbol *symbol)
{
    program->keys = tool_grow(program->keys, program->key_count, sizeof *program->keys);
    program->keys[program->key_count++] =
        (struct key){.name = symbol->name, .place = symbol->place, .size = symbol->size};
}

static void note_object(struct program *program, const struct elf_symbol *symbol)
{
    const char *stem;
    size_t length, table = program_table_at(program, symbol->place);
    if (name_stem(symbol->name, KEY_SUFFIX, &stem, &length) && length > 0)
        add_key(program, symbol);
    else if (name_stem(symbol->name, MODULE, &stem, &length) && length == 0)
        program->module_at = (struct target){TARGET_PLACE, symbol->place, symbol->name};
    /*
     * A symbol in the table is not always an entry: linkers may put symbols like __start_NAME and
     * __TMC_END__ in the table.
     */
    else if (name_stem(symbol->name, ENTRY_SUFFIX, &stem, &length) ||
             (table != NO_TABLE && symbol->type == STT_OBJECT && symbol->size > 0)) {
        program->entry_symbols = tool_grow(program->entry_symbols, program->entry_symbol_count,
                                           sizeof *program->entry_symbols);
        program->entry_symbols[program->entry_symbol_count++] =
            (struct entry_symbol){*symbol, table};
    }
}

static int compare_keys(const void *a, const void *b)
{
    const struct key *one = a, *other = b;
    int order = elf_compare_places(one->place, other->place);
    return order != 0 ? order : strcmp(one->name, other->name);
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry_symbol *one = a, *other = b;
    int order = elf_compare_places(one->symbol.place, other->symbol.place);
    return order != 0 ? order : strcmp(one->symbol.name, other->symbol.name);
}

void symbols_read(struct program *program)
{
    struct elf_symbols symbols;
    struct elf_symbol symbol;
    bool full;
    program->symbols = all_symbols(program, &symbols);
    elf_symbol_table(&program->file, &full);
    program->all_symbols = program->symbols && full;
    while (program->symbols && elf_next_symbol(&symbols, &symbol)) {
        size_t length = strcspn(symbol.name, "@");
        program->loads_libraries |=
            length == strlen(LOADER) && memcmp(symbol.name, LOADER, length) == 0;
        if (symbol.defined && (symbol.type == STT_OBJECT || symbol.type == STT_NOTYPE))
            note_object(program, &symbol);
    }
    if (program->key_count > 0)
        qsort(program->keys, program->key_count, sizeof *program->keys, compare_keys);
    if (program->entry_symbol_count > 0)
        qsort(program->entry_symbols, program->entry_symbol_count, sizeof *program->entry_symbols,
              compare_entries);
}

/* ---- symbols that entries point to ----------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
    const struct row *const *one = a, *const *other = b;
    return elf_compare_places((*one)->key.place, (*other)->key.place);
}

static void name_rows_at(struct row **rows, size_t count, const struct elf_symbol *symbol)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (elf_compare_places(rows[middle]->key.place, symbol->place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    /* All rows with the same key get the name of the first symbol at the place of the key. */
    for (; low < count && rows[low]->key.symbol == NULL &&
           elf_compare_places(rows[low]->key.place, symbol->place) == 0;
         low++)
        rows[low]->key.symbol = symbol->name;
}

/*
 * Each of ROWS is an entry whose `key` points to a place without a host key (a symbol such as
 * saxpy_id__). The entry is clang's own, or is for a global, or is wrong. If another symbol is at
 * that place, such as the symbol of the global, stores the name of that symbol in `key.symbol`.
 */
static void name_others(struct program *program, struct row **rows, size_t count)
{
    struct elf_symbols symbols;
    struct elf_symbol symbol;
    qsort(rows, count, sizeof *rows, compare_rows);
    for (bool more = all_symbols(program, &symbols);
         more && (more = elf_next_symbol(&symbols, &symbol));)
        if (symbol.defined && symbol.type != STT_SECTION && symbol.type != STT_FILE &&
            *symbol.name != '\0')
            name_rows_at(rows, count, &symbol);
}

void symbols_name(struct program *program)
{
    struct row **others = tool_alloc(program->row_count, sizeof(struct row *));
    size_t count = 0;
    for (size_t i = 0; i < program->row_count; i++) {
        struct row *row = &program->rows[i];
        program->tables[row->table].clangs |= row_is_clangs(row);
        struct key *key =
            row->key.kind == TARGET_PLACE ? program_key_at(program, row->key.place) : NULL;
        if (key != NULL) {
            /*
             * Mark all keys at this place. gcc does not merge keys, but a linker script may give
             * one place two names.
             */
            for (struct key *same = key; !same->in_entry; same++) {
                same->in_entry = true;
                if (same + 1 == program->keys + program->key_count ||
                    elf_compare_places(same[1].place, key->place) != 0)
                    break;
            }
            if (row->key.symbol == NULL)
                row->key.symbol = key->name;
        } else if (row->key.kind == TARGET_PLACE && row->key.symbol == NULL)
            others[count++] = row;
    }
    if (count > 0)
        name_others(program, others, count);
    free(others);
}
