/*
 * begins.h - begin calls in the present table. Lock the table before you call one of these
 * functions.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BEGINS_H
#define REX_INTERNAL_BEGINS_H

#include "present/mappings.h"

/*
 * Adds the references of one range of a begin call to `refs` of ENTRY. COUNTS is `counts` of the
 * range.
 */
void rex_begin_add_refs(struct rex_entry *entry, enum rex_counts counts);

/*
 * Makes entries for the absent memory of the call BEGIN. The ranges of BEGIN must be sorted by
 * address.
 */
void rex_begin_make_entries(struct rex_present_table *table, struct rex_range_lock *begin);

/*
 * Makes the call BEGIN the owner of the loose entries in its ranges (loose: present.h). If a loose
 * entry reaches beyond a range, first cuts the entry at the edge of the range. A loose entry with
 * users is not cut and gets no owner.
 */
void rex_begin_own_loose(struct rex_present_table *table, const struct rex_range_lock *begin);

#endif
