/*
 * settle.h - brings the entries of a data call up to date with libomptarget, after the call.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SETTLE_H
#define REX_INTERNAL_SETTLE_H

#include "present/present.h"

/*
 * For each entry that END owns, asks libomptarget whether the mapping still exists. If the mapping
 * does not exist, marks the entry as gone, so that rex_present_unpin() removes the entry.
 */
void rex_settle_end(struct rex_range_lock *end);

/*
 * Asks libomptarget for the device addresses of the entries that BEGIN has made. The host device
 * must have no entries, because all memory is present on the host device. On LLVM 19 and later,
 * librex may recognise the host device only after the first mapping. If the device proves to be the
 * host device, `is_mapped` stays false, and the new entries are removed.
 */
void rex_settle_begin(struct rex_range_lock *begin);

#endif
