/*
 * adopt.h - entries of other compilers' code, and kernels by their host keys.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ADOPT_H
#define REX_INTERNAL_ADOPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The name that the entry with KEY has, of a module or of a descriptor that another compiler's code
 * has registered; NULL if there is none. It stays as long as that is registered. The tables are
 * walked: a caller that asks often keeps the answer.
 */
const char *rex_kernel_name(const void *key);

/* ---- entries --------------------------------------------------------------------------------- */

/* An entry of clang 20 and later; struct __tgt_offload_entry is the form before that. */
struct rex_new_entry {
    uint64_t zero; /* the older form has its address here */
    uint16_t version, kind;
    uint32_t flags;
    void *address;
    char *name;
    uint64_t size, data;
    void *auxiliary;
};

#define REX_ENTRY_KIND_OPENMP 1

/* A table of SIZE bytes, as a descriptor delimits it. */
struct rex_entries {
    const void *begin;
    size_t size;
};

/* Whether TABLE is in the newer form. */
bool rex_entries_are_new(struct rex_entries table);

/* The name of the entry with KEY, or NULL. */
const char *rex_entries_name(struct rex_entries table, const void *key);

/*
 * Copy TABLE to memory of malloc(). OLD: in the older form, with the entries of OpenMP alone.
 * Returns 0, or -1 without memory.
 */
int rex_entries_copy(struct rex_entries table, bool old, struct rex_entries *copy);

#endif
