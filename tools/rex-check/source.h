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

/* A type that the language, or rex/kernel.h, does not define may be either. */
enum parameter_kind { PARAMETER_UNKNOWN, PARAMETER_POINTER, PARAMETER_VALUE };

struct parameter {
    enum parameter_kind kind;
    struct token name;
};

struct parameters {
    struct parameter *list;
    size_t count;
};

struct source_kernel {
    struct position at;
    char *name;
    bool c_linkage, by_macro;
    struct parameters parameters;
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

/* Add what the tokens of the host file PATH say. */
void source_read_host(struct sources *sources, const char *path, const struct tokens *tokens);

struct position source_position(const char *path, const struct tokens *tokens, size_t index);

/* NAME(ARGUMENT, ...) or NAME(ARGUMENT) at INDEX: the first argument, where it is a name. */
const struct token *source_argument(const struct tokens *tokens, size_t index);

/*
 * The key that the name behind & at INDEX, or the macro REX_KERNEL_ID() or REX_KERNEL_STEM_ID()
 * there, stands for, which the caller frees; NULL where none is.
 */
char *source_key(const struct tokens *tokens, size_t index);

void sources_free(struct sources *sources);

#endif
