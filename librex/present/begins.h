/*
 * begins.h - begins in the present table; the caller holds the lock of the table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BEGINS_H
#define REX_INTERNAL_BEGINS_H

#include "present/mappings.h"

/* Adds the references that a range with COUNTS takes of ENTRY. */
void rex_begin_add_refs(struct rex_entry *entry, enum rex_counts counts);

/* Makes entries for the absent memory of BEGIN, whose ranges are in order. */
void rex_begin_make_entries(struct rex_present_table *table, struct rex_range_lock *begin);

/* Makes BEGIN the owner of the loose memory that it may map. */
void rex_begin_own_loose(struct rex_present_table *table, const struct rex_range_lock *begin);

#endif
