/*
 * source.h - what generated sources declare and use.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_SOURCE_H
#define CHECK_SOURCE_H

#include "tokens.h"

struct position {
    const char *path;
    size_t line, token;
};

struct source_entry {
    struct position at;
    char *symbol, *key, *name; /* NULL where the entry does not say */
    bool in_section, global;
};

struct source_kernel {
    struct position at;
    char *name;
    bool c_linkage;
};

/* A key whose address is taken outside of the entries. */
struct source_use {
    struct position at;
    char *key;
};

struct sources {
    struct source_entry *entries;
    struct source_kernel *kernels;
    struct source_use *uses;
    size_t entry_count, kernel_count, use_count;
    size_t device_files;
};

/* Add what the tokens of the file PATH say: a host file, a device file. */
void source_read_host(struct sources *sources, const char *path, const struct tokens *tokens);
void source_read_device(struct sources *sources, const char *path, const struct tokens *tokens);
void sources_free(struct sources *sources);

#endif
