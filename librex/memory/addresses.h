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

#include "omp/present.h"

#define REX_FOUND_MAPPINGS 64
#define REX_FOUND_HINTS 256
#define REX_DEVICE_RANGES 16

/* Mapped memory that was found on a device, whole and in one piece. */
struct rex_found_mapping {
    uintptr_t begin, end;
    uintptr_t shift;     /* from host to device address */
    uint64_t generation; /* generation of the mappings in which it was found; 0: none */
    uint32_t used;       /* the first command that may be pending and uses it; 0: none */
};

/*
 * The addresses that one queue or graph has found; the owner's lock guards them. All zeros at
 * first.
 */
struct rex_addresses {
    struct rex_found_mapping mapping[REX_FOUND_MAPPINGS];
    uint8_t hint[REX_FOUND_HINTS]; /* the mapping in which such an address was last found */
    struct {
        uint64_t begin, end;
    } range[REX_DEVICE_RANGES]; /* device memory that commands address directly and may still use */
    uint32_t ranges;
    uint32_t next;
    uint32_t command; /* the number of the command that looks up now */
    bool lost;        /* a mapping in use was overwritten: any memory may be in use */
};

#define REX_COMMAND_ANY UINT32_MAX /* the number of a command that cannot fail any more */

/* The next command looks up. If it fails, the marks that it has set first are taken back. */
static inline void rex_addresses_begin(struct rex_addresses *addresses)
{
    addresses->command = addresses->command % (REX_COMMAND_ANY - 1) + 1;
}
void rex_addresses_undo(struct rex_addresses *addresses);

static inline void rex_found_use(struct rex_found_mapping *mapping, uint32_t command)
{
    mapping->used = mapping->used != 0 ? mapping->used : command;
}

/* Whether MAPPING was found in GENERATION and has SIZE bytes at AT. */
static inline bool rex_found_has(const struct rex_found_mapping *mapping, uintptr_t at, size_t size,
                                 uint64_t generation)
{
    uintptr_t all = mapping->end - mapping->begin, into = at - mapping->begin;
    return mapping->generation == generation && into < all && size <= all - into;
}

/* As rex_addresses_find(); slow, because it may ask libomptarget. Sets *HINT. */
uintptr_t rex_addresses_look_up(struct rex_addresses *addresses, uintptr_t at, size_t size,
                                int number, uint64_t generation, uint8_t *hint);

/*
 * Device address of SIZE bytes at BEGIN in GENERATION of the mappings, 0 if they are not mapped
 * whole. Marks their mapping as used.
 */
static inline uintptr_t rex_addresses_find(struct rex_addresses *addresses, const void *begin,
                                           size_t size, int number, uint64_t generation)
{
    uintptr_t at = (uintptr_t)begin;
    uint8_t *hint = &addresses->hint[((at >> 4) ^ (at >> 12) ^ (at >> 20)) % REX_FOUND_HINTS];
    struct rex_found_mapping *mapping = &addresses->mapping[*hint];
    if (__builtin_expect(!rex_found_has(mapping, at, size, generation), 0))
        return rex_addresses_look_up(addresses, at, size, number, generation, hint);
    rex_found_use(mapping, addresses->command);
    return at + mapping->shift;
}

/* A generation that no mapping was found in. */
uint64_t rex_addresses_new_generation(void);

/* The generation to look in: the current one, or, without REMEMBER, a new one. */
static inline uint64_t rex_addresses_generation(bool remember)
{
    return remember ? rex_mapping_now() : rex_addresses_new_generation();
}

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
