/*
 * lookup.h - look-ups of addresses that count as references to a mapping, kept apart from its end.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOOKUP_H
#define REX_INTERNAL_LOOKUP_H

#include <stdbool.h>

/* A libomptarget is bound whose look-ups do. */
void rex_lookups_take_references(void);

/*
 * Before and after a look-up that takes a reference and gives it back. The first waits for ends of
 * mappings that are at work.
 */
void rex_lookup_begin(void);
void rex_lookup_end(void);

/*
 * Before and after a call of libomptarget that ends mappings: no look-up has a reference meanwhile.
 * False where look-ups take no references: then there is nothing to end. A thread may be inside of
 * several, because LLVM 15's functions call each other through the forwarders.
 *
 * A thread that counts its calls in flight (flight.h) does so before: between these no thread waits
 * for a registration, which itself waits for all calls in flight.
 */
bool rex_ending_begin(void);
void rex_ending_end(void);

#endif
