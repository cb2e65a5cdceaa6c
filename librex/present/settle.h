/*
 * settle.h - updates the entries of a call to the state of libomptarget, after the call.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_SETTLE_H
#define REX_INTERNAL_SETTLE_H

#include "present/present.h"

/* Asks libomptarget which of the entries that END owns it still has. */
void rex_settle_end(struct rex_range_lock *end);

/*
 * Asks libomptarget for the device addresses of the entries that the begin has made. On the host
 * all memory is present, and has no entry. LLVM 19 and later know the number of devices only after
 * something was mapped.
 */
void rex_settle_begin(struct rex_range_lock *begin);

#endif
