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
 * Whether SIZE bytes at ADDRESS are present on device NUMBER: by the index, else by libomptarget.
 */
enum rex_presence {
    REX_ABSENT,
    REX_PRESENT_INSIDE, /* a mapping lies inside, and has neither the first nor the last byte */
    REX_PRESENT_IN_PART,
    REX_PRESENT_WHOLE
};
enum rex_presence rex_memory_presence(const void *address, size_t size, int number);

/* The same; if all bytes are present, *DEVICE gets the device address. */
enum rex_presence rex_memory_find(const void *address, size_t size, int number, void **device);

/* The device address of present memory; NULL if absent. */
void *rex_memory_address(const void *address, int number);

/* ---- look-ups that take references ----------------------------------------------------------- */

/*
 * LLVM 14 and 15 return the device address of mapped memory only from a data call, which takes a
 * reference until its end. If another thread ends the mapping in between, that end is not the last:
 * it copies nothing back, and the mapping may stay. So no mapping on a device ends during such a
 * look-up.
 */

/* libomptarget is bound: whether its look-ups take references is known from here on. */
void rex_lookups_bind(void);

/*
 * The same LLVM 14 and 15 delete a mapping at its last end, though another call has just found it.
 * So calls that map or end the same memory exclude each other.
 */
bool rex_found_may_be_deleted(void);

/* Begin and end such a look-up. rex_lookup_begin() waits for calls at work that end mappings. */
void rex_lookup_begin(int number);
void rex_lookup_end(int number);

/*
 * Begin and end a call of libomptarget that ends mappings: no look-up has a reference meanwhile.
 * False if look-ups take no references: then the caller ends nothing. A thread may be inside
 * several, because LLVM 15's functions call each other through the forwarders.
 *
 * A thread that counts its calls in flight (gate.h) counts them first. So no thread waits for a
 * registration between these two; a registration waits for all calls in flight.
 */
bool rex_ending_begin(int number);
void rex_ending_end(int number);

#endif
