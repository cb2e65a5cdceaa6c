/*
 * ends.h - ends in the present table; the caller holds the lock of the table.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ENDS_H
#define REX_INTERNAL_ENDS_H

#include "present/mappings.h"

/* Whether the end has to wait: for a call that changes an entry, or for users. */
bool rex_end_has_to_wait(struct rex_present_table *table, struct rex_range_lock *end);

/* The end owns what it is the last of, and takes its references of the rest. */
void rex_end_goes_on(struct rex_present_table *table, struct rex_range_lock *end);

#endif
