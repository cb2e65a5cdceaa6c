/*
 * librarytable.h - entries that librex makes from what is in an image.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LIBRARYTABLE_H
#define REX_INTERNAL_LIBRARYTABLE_H

#include "image/view.h"
#include "omp/forward.h"

/*
 * Entries as a program would have them, with names and keys of their own: they need the view no
 * more. One block of memory, which `entries` begins. All zeros: none.
 */
struct rex_library_table {
    struct __tgt_offload_entry *entries;
    uint32_t count;
    uint32_t *symbol;                   /* of each entry: its number in the view */
    struct __tgt_offload_entry **entry; /* of each symbol; NULL: it has none */
};

/*
 * An entry for each kernel that VIEW shows, and in a host image for each global: of those that the
 * image's own table names, where it has one. 0 or REX_ENOMEM.
 */
int rex_library_table_make(struct rex_library_table *table, const struct rex_view *view);

/* Free all, or, where somebody keeps the ENTRIES, the rest. */
void rex_library_table_free(struct rex_library_table *table, bool entries);

#endif
