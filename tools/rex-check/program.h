/*
 * program.h - what a program, shared object or object says of its kernels: entries, host keys,
 * launch sites, image names.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_PROGRAM_H
#define CHECK_PROGRAM_H

#include "common/elfsymbols.h"
#include "rex/inspect.h"

/* The target of a pointer in the file: none, a place in it, or a symbol of another file. */
enum target_kind { TARGET_NULL, TARGET_PLACE, TARGET_IMPORT };
struct target {
    enum target_kind kind;
    struct elf_place place;
    const char *symbol; /* the symbol there, NULL if none is known */
};

/* Bytes of an entry: of the older form, of the newer one. */
enum { OLD_SIZE = 32, NEW_SIZE = 56 };

/* One section of entries. */
struct table {
    const char *name;
    size_t section;         /* index in the file */
    struct elf_place begin; /* of its bytes */
    uint64_t size, alignment;
    bool newer;      /* entries of clang 20 and later: 56 bytes, not 32 */
    bool disordered; /* its entries do not lie one behind another: found by their symbols */
    bool clangs;     /* some entry in it is clang's own */
    size_t first_symbol, symbol_count; /* of its entries, in entry_symbols_of_tables */
    size_t first_row, row_count;
};

enum row_kind { ROW_KERNEL, ROW_GLOBAL, ROW_OTHER };

/* One entry. */
struct row {
    size_t table, index;
    struct elf_place place;
    const char *symbol; /* its own, NULL if none is known */
    struct target key, name_at;
    const char *name; /* of the kernel or global, NULL: it has none */
    uint64_t size;    /* of a global */
    enum row_kind kind;
};

/* A symbol that is called like an entry: inside of a table (its number), or outside of all. */
#define NO_TABLE SIZE_MAX
struct entry_symbol {
    struct elf_symbol symbol;
    size_t table;
};

/* A symbol that is called like a host key, `*id__`. */
struct key {
    const char *name;
    struct elf_place place;
    uint64_t size; /* 1: a char; a variable of another type is called like a key by chance */
    bool in_entry;
};

/* Code or data that refers to a host key that is in no entry. */
struct site {
    const char *key;
    bool elsewhere;      /* the key is in another file */
    const char *section; /* where it lies */
    struct elf_place place;
    const char *function; /* NULL if none is known */
    uint64_t into;        /* the function, in bytes */
};

/* The binary's struct rex_module, as far as it could be read. */
struct module_names {
    bool found;
    const char *image, *host_image;
    struct embedded {
        const void *bytes;
        size_t size;
    } * embedded; /* the images in it: for GPUs, else for the CPU */
    size_t embedded_count;
    bool embedded_on_host;
};

struct program {
    const char *path;
    struct elf_file file;
    bool symbols, all_symbols; /* there are some; also those that are not exported */
    bool loads_libraries;      /* it calls rex_library_load() */
    bool relocations;          /* launch sites can be seen */
    size_t launch_sites;       /* references to host keys that were seen */

    struct table *tables;
    struct row *rows;
    struct entry_symbol *entry_symbols;
    struct key *keys;   /* by place */
    struct site *sites; /* by place */
    size_t table_count, row_count, entry_symbol_count, key_count, site_count;
    size_t *tables_by_place; /* their numbers */
    /* table by table, each in the order of places */
    const struct entry_symbol **entry_symbols_of_tables;
    struct target module_at; /* struct rex_module, where a symbol says where it is */
    struct module_names module;
};

/* Bytes of an entry of TABLE. */
size_t table_entry_size(const struct table *table);

/*
 * Whether clang made the entry of ROW for its own offloading; by its name, or its symbols. For a
 * global only the symbol can tell, and linkers drop that of a second one.
 */
bool row_is_clangs(const struct row *row);

/*
 * Whether ROW is in the table of an image for the CPU: its key is the kernel itself; whether
 * PROGRAM is such an image.
 */
bool row_is_images(const struct row *row);
bool program_is_image(const struct program *program);

/* Whether PROGRAM finds all its kernels by name, in libraries: it has no entries and loads some. */
bool program_is_by_name(const struct program *program);

/* The kind of a program in words: "x86-64 shared object". */
const char *program_kind(const struct program *program, char buffer[96]);

/* The table that PLACE lies in, NO_TABLE if none; the first key at PLACE, NULL if there is none. */
size_t program_table_at(const struct program *program, struct elf_place place);
struct key *program_key_at(const struct program *program, struct elf_place place);

/* A reference at PLACE in SECTION to a KEY that is in no entry, or is ELSEWHERE: in another file.
 */
void program_add_site(struct program *program, const char *key, bool elsewhere,
                      struct elf_place place, const char *section);

#endif
