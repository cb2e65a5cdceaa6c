/*
 * abi.c - the ABI of libomptarget and librex, for code generators.
 *
 * When rex-info is built, abi.awk makes lists of structs, constants and functions from the public
 * headers. Sizes, offsets and values come from the compiler.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "abi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rex.h>
#include <rex/inspect.h>
#include <rex_kmp.h>

#include "common/elfsymbols.h"
#include "common/memory.h"
#include "common/print.h"
#include "rex-info/contract.h"

/*
 * All lists are in one file. Each table below expands only its own lines of the file; all other
 * lines expand to nothing.
 */
#define STRUCT(tag)
#define FIELD(tag, name, type)
#define END(tag)
#define CONSTANT(name)
#define FUNCTION(symbol, prototype)
#define INLINE(symbol, prototype)
#define PER_BINARY(symbol, prototype)

/*
 * A row of the list of structs. If `field` is NULL, the row is a struct. If not, the row is a field
 * of the nearest struct before it.
 */
static const struct {
    const char *tag, *field, *type;
    size_t size, offset, alignment;
} layout[] = {
#undef STRUCT
#undef FIELD
#define STRUCT(tag) {#tag, NULL, NULL, sizeof(tag), 0, _Alignof(tag)},
#define FIELD(tag, name, type)    \
    {#tag,                        \
     #name,                       \
     type,                        \
     sizeof(((tag *)NULL)->name), \
     offsetof(tag, name),         \
     _Alignof(__typeof__(((tag *)NULL)->name))},
#include "abi.inc"
#undef STRUCT
#undef FIELD
#define STRUCT(tag)
#define FIELD(tag, name, type)
};

static const struct {
    const char *name;
    int64_t value;
} constants[] = {
#undef CONSTANT
#define CONSTANT(name) {#name, (int64_t)(name)},
#include "abi.inc"
#undef CONSTANT
#define CONSTANT(name)
};

/*
 * Where a function is defined: in librex, in each file that includes its header, or once in each
 * linked binary.
 */
enum origin { OF_LIBRARY, OF_FILE, OF_BINARY };

static const struct {
    const char *symbol, *prototype;
    enum origin origin;
} functions[] = {
#undef FUNCTION
#undef INLINE
#undef PER_BINARY
#define FUNCTION(symbol, prototype) {#symbol, prototype, OF_LIBRARY},
#define INLINE(symbol, prototype) {#symbol, prototype, OF_FILE},
#define PER_BINARY(symbol, prototype) {#symbol, prototype, OF_BINARY},
#include "abi.inc"
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/*
 * ABI_SCHEMA is the version of the report's format. ABI_NUMBER is the version of the ABI that the
 * report describes: see rex-codegen(7).
 */
#define ABI_SCHEMA 1
#define ABI_NUMBER 3

/* ---- sizes ----------------------------------------------------------------------------------- */

void abi_print_sizes(bool json)
{
    bool first = true;
    fputs(json ? "\"sizes\": {" : "ABI structs, bytes\n", stdout);
    for (size_t i = 0; i < COUNT(layout); i++) {
        if (layout[i].field != NULL)
            continue;
        if (json)
            printf("%s\"%s\": %zu", first ? "" : ", ", layout[i].tag, layout[i].size);
        else
            printf("    %-32s  %4zu\n", layout[i].tag, layout[i].size);
        first = false;
    }
    fputs(json ? "}\n" : "", stdout);
}

/* ---- everything ------------------------------------------------------------------------------ */

static void print_struct(size_t i, bool is_first, bool json)
{
    if (json)
        printf("%s\n    {\"name\": \"%s\", \"size\": %zu, \"alignment\": %zu, \"fields\": [",
               is_first ? "" : "]},", layout[i].tag, layout[i].size, layout[i].alignment);
    else
        printf("%s  %zu bytes, aligned to %zu\n", layout[i].tag, layout[i].size,
               layout[i].alignment);
}

static void print_field(size_t i, bool json)
{
    if (json)
        printf("%s\n        {\"name\": \"%s\", \"type\": \"%s\", \"offset\": %zu, \"size\": %zu}",
               layout[i - 1].field != NULL ? "," : "", layout[i].field, layout[i].type,
               layout[i].offset, layout[i].size);
    else
        printf("    %4zu %4zu  %-18s %s\n", layout[i].offset, layout[i].size, layout[i].field,
               layout[i].type);
}

static int by_tag(const void *a, const void *b)
{
    return strcmp(layout[*(const size_t *)a].tag, layout[*(const size_t *)b].tag);
}

static void print_structs(bool json)
{
    size_t first[COUNT(layout)], count = 0;
    for (size_t i = 0; i < COUNT(layout); i++)
        if (layout[i].field == NULL)
            first[count++] = i;
    qsort(first, count, sizeof *first, by_tag);
    fputs(json ? "\"structs\": [" : "", stdout);
    for (size_t i = 0; i < count; i++) {
        print_struct(first[i], i == 0, json);
        for (size_t j = first[i] + 1; j < COUNT(layout) && layout[j].field != NULL; j++)
            print_field(j, json);
    }
    fputs(json ? "]}],\n" : "\n", stdout);
}

static int by_constant(const void *a, const void *b)
{
    return strcmp(constants[*(const size_t *)a].name, constants[*(const size_t *)b].name);
}

static void print_constants(bool json)
{
    size_t order[COUNT(constants)];
    for (size_t i = 0; i < COUNT(constants); i++)
        order[i] = i;
    qsort(order, COUNT(constants), sizeof *order, by_constant);
    fputs(json ? "\"constants\": {" : "constants\n", stdout);
    for (size_t i = 0; i < COUNT(constants); i++) {
        const char *name = constants[order[i]].name;
        int64_t value = constants[order[i]].value;
        if (json)
            printf("%s\n    \"%s\": %" PRId64, i > 0 ? "," : "", name, value);
        else
            printf("    %-24s %#" PRIx64 " (%" PRId64 ")\n", name, (uint64_t)value, value);
    }
    fputs(json ? "},\n" : "\n", stdout);
}

/* ---- functions ------------------------------------------------------------------------------- */

struct function {
    const char *name, *prototype; /* prototype: NULL if no header declares the function */
    enum origin origin;
};

static const char *prototype_of(const char *symbol)
{
    for (size_t i = 0; i < COUNT(functions); i++)
        if (strcmp(functions[i].symbol, symbol) == 0)
            return functions[i].prototype;
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct function *)a)->name, ((const struct function *)b)->name);
}

/*
 * Sets *ALL to a list of all functions that the library exports or the headers declare, sorted by
 * name. Returns the number of functions.
 */
static size_t collect_functions(struct elf_symbols symbols, struct function **all)
{
    struct elf_symbol symbol;
    size_t count = 0;
    *all = tool_alloc(symbols.count + COUNT(functions), sizeof **all);
    while (elf_next_symbol(&symbols, &symbol))
        if (symbol.defined && symbol.type == STT_FUNC && symbol.binding != STB_LOCAL)
            (*all)[count++] = (struct function){symbol.name, prototype_of(symbol.name), OF_LIBRARY};
    for (size_t i = 0; i < COUNT(functions); i++)
        if (functions[i].origin != OF_LIBRARY)
            (*all)[count++] =
                (struct function){functions[i].symbol, functions[i].prototype, functions[i].origin};
    qsort(*all, count, sizeof **all, by_name);
    return count;
}

static void print_function(const struct function *function, bool json)
{
    if (json) {
        fputs("\n    {\"name\": ", stdout);
        print_json(stdout, function->name);
        fputs(", \"prototype\": ", stdout);
        print_json(stdout, function->prototype);
        printf(", \"inline\": %s, \"per_binary\": %s}",
               function->origin == OF_FILE ? "true" : "false",
               function->origin == OF_BINARY ? "true" : "false");
        return;
    }
    static const char *const marks[] = {"    ", "    inline ", "    per binary "};
    fputs(marks[function->origin], stdout);
    print_text(stdout, function->prototype != NULL ? function->prototype : function->name);
    putchar('\n');
}

static void print_functions(const struct elf_symbols *symbols, bool json)
{
    struct function *all;
    size_t count = collect_functions(*symbols, &all);
    fputs(json ? "\"functions\": [" : "functions\n", stdout);
    for (size_t i = 0; i < count; i++) {
        if (json && i > 0)
            putchar(',');
        print_function(&all[i], json);
    }
    fputs(json ? "]" : "", stdout);
    free(all);
}

static size_t dynamic_table(const struct elf_file *file)
{
    Elf64_Shdr section;
    size_t i = 0;
    while (rex_elf_section(&file->elf, i, &section) && section.sh_type != SHT_DYNSYM)
        i++;
    return i;
}

/* ---- the whole report ------------------------------------------------------------------------ */

int abi_print(bool json, const char *library, const char **why)
{
    static struct elf_file file;
    struct elf_symbols symbols;
    *why = file.why;
    if (elf_file_open(&file, library) != 0)
        return -1;
    *why = "it has no dynamic symbols";
    if (elf_symbols_of(&file, dynamic_table(&file), &symbols) != 0)
        return -1;
    if (json)
        printf("{\"schema\": %d, \"abi\": %d, \"version\": \"%s\", \"pointer_size\": %zu,\n",
               ABI_SCHEMA, ABI_NUMBER, rex_version(), sizeof(void *));
    else
        printf("%-18s %d\n", "abi", ABI_NUMBER);
    contract_print(json);
    print_structs(json);
    print_constants(json);
    contract_print_releases(json);
    print_functions(&symbols, json);
    fputs(json ? "}\n" : "", stdout);
    elf_file_close(&file);
    return 0;
}
