/*
 * abi.c - the ABI of libomptarget and librex, for code generators.
 *
 * abi.awk makes the lists from the public headers when rex-info is built; sizes, offsets and values
 * are the compiler's.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "abi.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rex.h>
#include <rex/inspect.h>
#include <rex_kmp.h>

#include "common/elfsymbols.h"
#include "common/print.h"

/* A row of the list of structs: a struct where FIELD is NULL, else one of its fields. */
static const struct {
    const char *tag, *field, *type;
    size_t size, offset, alignment;
} layout[] = {
#define STRUCT(tag) {#tag, NULL, NULL, sizeof(tag), 0, _Alignof(tag)},
#define FIELD(tag, name, type)    \
    {#tag,                        \
     #name,                       \
     type,                        \
     sizeof(((tag *)NULL)->name), \
     offsetof(tag, name),         \
     _Alignof(__typeof__(((tag *)NULL)->name))},
#define END(tag)
#define CONSTANT(name)
#define FUNCTION(symbol, prototype)
#include "abi.inc"
#undef STRUCT
#undef FIELD
#undef CONSTANT
#undef FUNCTION
};

static const struct {
    const char *name;
    int64_t value;
} constants[] = {
#define STRUCT(tag)
#define FIELD(tag, name, type)
#define CONSTANT(name) {#name, (int64_t)(name)},
#define FUNCTION(symbol, prototype)
#include "abi.inc"
#undef CONSTANT
#undef FUNCTION
};

static const struct {
    const char *symbol, *prototype;
} functions[] = {
#define CONSTANT(name)
#define FUNCTION(symbol, prototype) {#symbol, prototype},
#include "abi.inc"
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

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

static void print_struct(size_t i, bool json)
{
    if (json)
        printf("%s\n    {\"name\": \"%s\", \"size\": %zu, \"alignment\": %zu, \"fields\": [",
               i > 0 ? "]}," : "", layout[i].tag, layout[i].size, layout[i].alignment);
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

static void print_structs(bool json)
{
    fputs(json ? "\"structs\": [" : "", stdout);
    for (size_t i = 0; i < COUNT(layout); i++)
        if (layout[i].field == NULL)
            print_struct(i, json);
        else
            print_field(i, json);
    fputs(json ? "]}],\n" : "\n", stdout);
}

static void print_constants(bool json)
{
    fputs(json ? "\"constants\": {" : "constants\n", stdout);
    for (size_t i = 0; i < COUNT(constants); i++)
        if (json)
            printf("%s\n    \"%s\": %" PRId64, i > 0 ? "," : "", constants[i].name,
                   constants[i].value);
        else
            printf("    %-24s %#" PRIx64 " (%" PRId64 ")\n", constants[i].name,
                   (uint64_t)constants[i].value, constants[i].value);
    fputs(json ? "},\n" : "\n", stdout);
}

static const char *prototype_of(const char *symbol)
{
    for (size_t i = 0; i < COUNT(functions); i++)
        if (strcmp(functions[i].symbol, symbol) == 0)
            return functions[i].prototype;
    return NULL;
}

/* What the library itself exports: functions alone, no version nodes. */
static void print_functions(const struct elf_symbols *table, bool json)
{
    struct elf_symbols symbols = *table;
    struct elf_symbol symbol;
    bool first = true;
    fputs(json ? "\"functions\": [" : "exported functions\n", stdout);
    while (elf_next_symbol(&symbols, &symbol)) {
        if (!symbol.defined || symbol.type != STT_FUNC || symbol.binding == STB_LOCAL)
            continue;
        const char *prototype = prototype_of(symbol.name);
        if (json) {
            printf("%s\n    {\"name\": ", first ? "" : ",");
            print_json(stdout, symbol.name);
            fputs(", \"prototype\": ", stdout);
            print_json(stdout, prototype);
            putchar('}');
        } else {
            fputs("    ", stdout);
            print_text(stdout, prototype != NULL ? prototype : symbol.name);
            putchar('\n');
        }
        first = false;
    }
    fputs(json ? "]" : "", stdout);
}

static size_t dynamic_table(const struct elf_file *file)
{
    Elf64_Shdr section;
    size_t i = 0;
    while (elf_section(file, i, &section) == 0 && section.sh_type != SHT_DYNSYM)
        i++;
    return i;
}

int abi_print(bool json, const char *library)
{
    struct elf_file file;
    struct elf_symbols symbols;
    if (elf_file_open(&file, library) != 0 ||
        elf_symbols_of(&file, dynamic_table(&file), &symbols) != 0)
        return -1;
    if (json)
        printf("{\"version\": \"%s\", \"pointer_size\": %zu, \"entry_section\": "
               "\"omp_offloading_entries\",\n",
               rex_version(), sizeof(void *));
    print_structs(json);
    print_constants(json);
    print_functions(&symbols, json);
    fputs(json ? "}\n" : "", stdout);
    elf_file_close(&file);
    return 0;
}
