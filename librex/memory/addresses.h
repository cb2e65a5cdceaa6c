/*
 * addresses.h - a cache of device addresses of mapped memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ADDRESSES_H
#define REX_INTERNAL_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REX_FOUND_MAPPINGS 64
#define REX_FOUND_SECTIONS 256 /* in those mappings */
#define REX_DEVICE_RANGES 16

/* Mapped memory that was found on a device, whole and in one piece. */
struct rex_found_mapping {
    uintptr_t begin, end;
    uintptr_t shift;     /* from host to device address */
    uint64_t generation; /* generation of the mappings in which it was found; 0: none */
    bool used;           /* by commands that may be unfinished */
};

/*
 * The addresses that one queue or graph has found; the owner's lock guards them. All zeros at
 * first.
 */
struct rex_addresses {
    struct rex_found_mapping mapping[REX_FOUND_MAPPINGS];
    struct {
        uintptr_t begin;
        size_t size;
        uintptr_t device;
        uint64_t generation;
        uint32_t mapping;
    } recent[REX_FOUND_SECTIONS];
    struct {
        uint64_t begin, end;
    } range[REX_DEVICE_RANGES]; /* device memory that commands address directly and may still use */
    uint32_t ranges;
    uint32_t next;
    bool lost; /* a mapping in use was overwritten: any memory may be in use */
};

/* Slow, because it asks libomptarget. 0: the memory is not mapped whole on device NUMBER. */
uintptr_t rex_addresses_look_up(struct rex_addresses *addresses, uintptr_t begin, size_t size,
                                int number, uint64_t generation);

/* The slot in `recent` of a section that begins at AT. */
static inline size_t rex_addresses_slot(uintptr_t at)
{
    return ((at >> 4) ^ (at >> 12) ^ (at >> 20)) % REX_FOUND_SECTIONS;
}

/*
 * Device address of SIZE bytes at BEGIN in GENERATION of the mappings, 0 if they are not mapped
 * whole. Marks their mapping as used.
 */
static inline uintptr_t rex_addresses_find(struct rex_addresses *addresses, const void *begin,
                                           size_t size, int number, uint64_t generation)
{
    uintptr_t at = (uintptr_t)begin;
    size_t slot = rex_addresses_slot(at);
    if (__builtin_expect(addresses->recent[slot].begin == at &&
                             addresses->recent[slot].size >= size &&
                             addresses->recent[slot].generation == generation,
                         1)) {
        addresses->mapping[addresses->recent[slot].mapping].used = true;
        return addresses->recent[slot].device;
    }
    return rex_addresses_look_up(addresses, at, size, number, generation);
}

/* The generation to look in: the current one, or, without REMEMBER, one that no entry has. */
uint64_t rex_addresses_generation(bool remember);

/* Marks SIZE bytes of device memory at BEGIN, an address from a caller, as used. */
void rex_addresses_use_range(struct rex_addresses *addresses, uint64_t begin, size_t size);

/*
 * Whether SIZE bytes of the host at BEGIN, or their device memory on device NUMBER, are marked as
 * used.
 */
bool rex_addresses_in_use(const struct rex_addresses *addresses, const void *begin, size_t size,
                          int number);

/*
 * Whether SIZE bytes of the host at BEGIN are mapped to a range that was marked as used by its
 * device address. Device NUMBER may be another than that of the mappings here.
 */
bool rex_addresses_ranges_in_use(const struct rex_addresses *addresses, const void *begin,
                                 size_t size, int number);

/* No memory is in use any more. */
void rex_addresses_unmark(struct rex_addresses *addresses);

/* Marks all memory of FROM as used in TO. */
void rex_addresses_use_all(struct rex_addresses *to, const struct rex_addresses *from);

/*
 * Whether all mappings are still there, and at the same addresses; they are then valid in
 * GENERATION.
 */
bool rex_addresses_renew(struct rex_addresses *addresses, int number, uint64_t generation);

#endif
