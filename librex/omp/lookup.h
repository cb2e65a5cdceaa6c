/*
 * lookup.h - keeps look-ups of addresses apart from ends of mappings, on LLVM 14 and 15.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOOKUP_H
#define REX_INTERNAL_LOOKUP_H

#include <stdbool.h>

/* A libomptarget is bound whose look-ups take references. */
void rex_lookups_take_references(void);

/*
 * Begin and end a look-up that takes a reference and gives it back. rex_lookup_begin() waits for
 * calls at work that end mappings.
 */
void rex_lookup_begin(void);
void rex_lookup_end(void);

/*
 * Begin and end a call of libomptarget that ends mappings: no look-up has a reference meanwhile.
 * False if look-ups take no references: then the caller ends nothing. A thread may be inside
 * several, because LLVM 15's functions call each other through the forwarders.
 *
 * A thread that counts its calls in flight (flight.h) counts them first. So no thread waits for a
 * registration between these two; a registration waits for all calls in flight.
 */
bool rex_ending_begin(void);
void rex_ending_end(void);

#endif
