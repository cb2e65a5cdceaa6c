/*
 * lookup.h - finds out whether memory is present on a device, and at which device address. librex
 * asks the present table first, and then libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOOKUP_H
#define REX_INTERNAL_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>

/* How much of SIZE bytes at ADDRESS is present on device NUMBER. */
enum rex_presence {
    REX_ABSENT,
    REX_PRESENT_INSIDE, /* a mapping has inner bytes, but not the first and not the last byte */
    REX_PRESENT_IN_PART,
    REX_PRESENT_WHOLE
};
enum rex_presence rex_memory_presence(const void *address, size_t size, int number);

/*
 * Like rex_memory_presence(), but returns REX_ABSENT in place of REX_PRESENT_INSIDE. If the result
 * is REX_PRESENT_WHOLE, sets *DEVICE to the device address of the bytes.
 */
enum rex_presence rex_memory_find(const void *address, size_t size, int number, void **device);

/* Returns the device address of the byte at ADDRESS, or NULL if the byte is absent. */
void *rex_memory_address(const void *address, int number);

/* ---- look-ups that take references ----------------------------------------------------------- */

/*
 * In LLVM 14 and 15 only a data call returns the device address of mapped memory. So a look-up
 * makes a begin call, which adds a reference, and an end call, which drops the reference. If the
 * program made an end call in another thread between these two calls, the program's end call would
 * not drop the last reference. The program's end call would copy nothing back, and the mapping
 * might remain. To prevent this, librex lets no mapping of a device end during a look-up.
 */

/*
 * Finds out whether look-ups of the bound libomptarget take references. Call this function after
 * libomptarget is bound.
 */
void rex_lookups_bind(void);

/*
 * Returns true on LLVM 14 and 15. In these LLVM releases the last end call for a mapping deletes
 * the mapping even if another call has just found the mapping. So calls that map equal memory, or
 * end its mapping, exclude each other.
 */
bool rex_found_may_be_deleted(void);

/*
 * Call rex_lookup_begin() before a look-up that takes a reference, and rex_lookup_end() after it.
 * rex_lookup_begin() waits for calls that are ending mappings.
 */
void rex_lookup_begin(int number);
void rex_lookup_end(int number);

/*
 * Call rex_ending_begin() before a call to libomptarget that ends mappings, and rex_ending_end()
 * after it. rex_ending_begin() waits until no look-up has a reference. If look-ups take no
 * references, rex_ending_begin() returns false. In that case do not call rex_ending_end(). Pairs of
 * these functions may nest, because in LLVM 15 functions of libomptarget call each other through
 * the forwarders.
 *
 * Enter the gate (omp/gate.h) before rex_ending_begin(), not after it. In the wrong order, three
 * threads could wait for each other for ever. The first thread is after rex_ending_begin(), and
 * waits at the gate for a registration. The second thread makes the registration, and waits until
 * no thread is inside the gate. The third thread is inside the gate, and waits in
 * rex_lookup_begin() for the first thread.
 */
bool rex_ending_begin(int number);
void rex_ending_end(int number);

#endif
