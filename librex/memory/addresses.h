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
    uint32_t command;    /* the number of the command that looks up now */
    uint64_t generation; /* the generation of the mappings in which it looks */
    bool lost;           /* a mapping in use was overwritten: any memory may be in use */
};

#define REX_COMMAND_ANY UINT32_MAX /* the number of a command that cannot fail any more */

/*
 * The generation to look in: the current one of the mappings, or, without REMEMBER, a new one, in
 * which no mapping was found.
 */
uint64_t rex_addresses_generation(bool remember);

/*
 * The next command looks up, in the generation for REMEMBER. If it fails, rex_addresses_undo()
 * takes back the marks that it has set first.
 */
void rex_addresses_begin(struct rex_addresses *addresses, bool remember);
void rex_addresses_undo(struct rex_addresses *addresses);

/*
 * Device address of SIZE bytes at BEGIN, 0 if they are not mapped whole. Marks their mapping as
 * used.
 */
uintptr_t rex_addresses_find(struct rex_addresses *addresses, const void *begin, size_t size,
                             int number);

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
