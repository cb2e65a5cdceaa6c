/*
 * entryform.h - offload entries in either of their two forms.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ENTRYFORM_H
#define REX_INTERNAL_ENTRYFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp/forward.h"

/* An entry of clang 20 and later; struct __tgt_offload_entry is the form before that. */
struct rex_new_entry {
    uint64_t zero; /* where the older form has its address */
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

/* Whether TABLE is of the newer form. */
bool rex_entries_are_new(struct rex_entries table);

/* The name of the entry with KEY, NULL if there is none. */
const char *rex_entries_name(struct rex_entries table, const void *key);

/*
 * A copy of TABLE, of malloc(); OLD: in the older form whatever it is in, with the entries of
 * OpenMP alone. 0, or -1: out of memory.
 */
int rex_entries_copy(struct rex_entries table, bool old, struct rex_entries *copy);

#endif
