/*
 * lookup.h - whether memory is present on a device, and where: by the present table, else by
 * libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOOKUP_H
#define REX_INTERNAL_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * How much of SIZE bytes at ADDRESS is present on device NUMBER: by the index, else by
 * libomptarget.
 */
enum rex_presence {
    REX_ABSENT,
    REX_PRESENT_INSIDE, /* a mapping lies inside, without the first and the last byte */
    REX_PRESENT_IN_PART,
    REX_PRESENT_WHOLE
};
enum rex_presence rex_memory_presence(const void *address, size_t size, int number);

/*
 * Returns the presence without REX_PRESENT_INSIDE. If all bytes are present, *DEVICE becomes the
 * device address.
 */
enum rex_presence rex_memory_find(const void *address, size_t size, int number, void **device);

/* Returns the device address of present memory; NULL if the memory is absent. */
void *rex_memory_address(const void *address, int number);

/* ---- look-ups that take references ----------------------------------------------------------- */

/*
 * LLVM 14 and 15 return the device address of mapped memory only from a data call, which holds a
 * reference until its end. If another thread ends the mapping in between, its end is not the last.
 * That end copies nothing back, and the mapping may stay. So no mapping on a device ends during a
 * look-up.
 */

/* Call after libomptarget is bound: finds out whether its look-ups take references. */
void rex_lookups_bind(void);

/*
 * Returns true on LLVM 14 and 15: their last end deletes a mapping even if another call has just
 * found it. So calls that map or end equal memory exclude each other.
 */
bool rex_found_may_be_deleted(void);

/*
 * Begin and end a look-up that takes a reference. rex_lookup_begin() waits for calls that end
 * mappings.
 */
void rex_lookup_begin(int number);
void rex_lookup_end(int number);

/*
 * Begin and end a call of libomptarget that ends mappings: no look-up holds a reference meanwhile.
 * rex_ending_begin() returns false if look-ups take no references; then do not call
 * rex_ending_end(). A thread may be inside several, because LLVM 15's functions call each other
 * through the forwarders.
 *
 * Count the call in flight (gate.h) before rex_ending_begin(). A registration waits for all calls
 * in flight. A thread that waited for a registration between begin and end could cause a deadlock.
 */
bool rex_ending_begin(int number);
void rex_ending_end(int number);

#endif
