/*
 * program.h - the entries, host keys, launch sites and image names of a program, shared object or
 * object.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_PROGRAM_H
#define CHECK_PROGRAM_H

#include "common/elfsymbols.h"
#include "rex/inspect.h"

/* The target of a pointer in the file: none, a place in the file, or a symbol of another file. */
enum target_kind { TARGET_NULL, TARGET_PLACE, TARGET_IMPORT };
struct target {
    enum target_kind kind;
    struct elf_place place;
    const char *symbol; /* symbol at the target, or NULL */
};

/* Size of an entry in bytes, in the older and the newer form. */
enum { OLD_SIZE = 32, NEW_SIZE = 56 };

/* One section of entries. */
struct table {
    const char *name;
    size_t section;         /* index in the file */
    struct elf_place begin; /* place of the first byte */
    uint64_t size, alignment;
    bool newer;      /* entries of clang 20 and later: 56 bytes, not 32 */
    bool disordered; /* the entries are not adjacent, so rex-check finds them by their symbols */
    bool clangs;     /* row_is_clangs() is true for at least one entry */
    size_t first_symbol, symbol_count; /* range in entry_symbols_of_tables */
    size_t first_row, row_count;
};

enum row_kind { ROW_KERNEL, ROW_GLOBAL, ROW_OTHER };

/* One entry. */
struct row {
    size_t table, index;
    struct elf_place place;
    const char *symbol; /* symbol of the entry, or NULL */
    struct target key, name_at;
    const char *name; /* name of the kernel or global, or NULL */
    uint64_t size;    /* size of a global in bytes */
    enum row_kind kind;
};

/*
 * A symbol with the name of an entry. `table` is the number of the table that contains the entry,
 * or NO_TABLE.
 */
#define NO_TABLE SIZE_MAX
struct entry_symbol {
    struct elf_symbol symbol;
    size_t table;
};

/* A symbol named like a host key, `*id__`. */
struct key {
    const char *name;
    struct elf_place place;
    uint64_t size; /* bytes; a key has 1 byte, so a larger variable is not a key */
    bool in_entry;
};

/*
 * A launch site: code or data that refers to a host key. A site is in the list only if its key is
 * in no entry.
 */
struct site {
    const char *key;
    bool elsewhere;      /* another file defines the key */
    const char *section; /* section that contains the launch site */
    struct elf_place place;
    const char *function; /* function that contains the launch site, or NULL */
    uint64_t into;        /* offset in the function, in bytes */
};

/* The members of the program's struct rex_module that rex-check reads. */
struct module_names {
    bool found;
    const char *image, *host_image;
    struct embedded {
        const void *bytes;
        size_t size;
    } * embedded; /* the images for GPUs; if there are none, the images for the CPU */
    size_t embedded_count;
    bool embedded_on_host;
};

struct program {
    const char *path;
    struct elf_file file;
    /*
     * `symbols`: the file has symbols. `all_symbols`: the file also has symbols that are not
     * exported.
     */
    bool symbols, all_symbols;
    bool loads_libraries; /* the program calls rex_library_load() */
    bool relocations;     /* relocations show launch sites */
    size_t launch_sites;  /* number of references to host keys */

    struct table *tables;
    struct row *rows;
    struct entry_symbol *entry_symbols;
    struct key *keys;   /* sorted by place */
    struct site *sites; /* sorted by place */
    size_t table_count, row_count, entry_symbol_count, key_count, site_count;
    size_t *tables_by_place; /* numbers of the tables, sorted by place */
    /* grouped by table, each group sorted by place */
    const struct entry_symbol **entry_symbols_of_tables;
    /* place of the program's struct rex_module; TARGET_NULL if no symbol gives the place */
    struct target module_at;
    struct module_names module;
};

/* Returns the size of an entry of TABLE in bytes. */
size_t table_entry_size(const struct table *table);

/*
 * Returns true if clang made the entry of ROW for its own offloading. The symbol of such an entry
 * has a name like `.omp_offloading.entry.NAME`. The entry may have no symbol, because linkers keep
 * only the first of several equal symbols. So the function also returns true if the name of ROW's
 * kernel begins with `__omp_offloading_`.
 */
bool row_is_clangs(const struct row *row);

/*
 * row_is_images() returns true if ROW is in the table of an image for the CPU. In such a table, the
 * key of a kernel is the kernel itself, not a variable. If clang made the rows, the function
 * recognises only the rows of kernels. program_is_image() returns true if row_is_images() returns
 * true for a row of PROGRAM.
 */
bool row_is_images(const struct row *row);
bool program_is_image(const struct program *program);

/*
 * Returns true if PROGRAM has no entries and loads libraries. Such a program finds all its kernels
 * by name.
 */
bool program_is_by_name(const struct program *program);

/* Returns the kind of a program in words: "x86-64 shared object". */
const char *program_kind(const struct program *program, char buffer[96]);

/*
 * program_table_at() returns the number of the table that contains PLACE, or NO_TABLE.
 * program_key_at() returns the first key at PLACE, or NULL.
 */
size_t program_table_at(const struct program *program, struct elf_place place);
struct key *program_key_at(const struct program *program, struct elf_place place);

/*
 * Adds a launch site: the reference to KEY at PLACE in SECTION. Call this only if KEY is in no
 * entry of this file. ELSEWHERE is true if another file defines the key.
 */
void program_add_site(struct program *program, const char *key, bool elsewhere,
                      struct elf_place place, const char *section);

#endif
