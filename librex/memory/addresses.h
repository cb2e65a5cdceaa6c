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
    uint64_t generation; /* generation of the mappings in which it was found; 0: free */
    uint32_t used; /* number of the first command that may be pending and uses it; 0: unused */
};

/*
 * The addresses that one queue or graph has found; the owner's lock guards them. Zeros are a valid
 * start.
 */
struct rex_addresses {
    struct rex_found_mapping mapping[REX_FOUND_MAPPINGS];
    uint8_t hint[REX_FOUND_HINTS]; /* index of the mapping for the hash of an address */
    struct {
        uint64_t begin, end;
    } range[REX_DEVICE_RANGES]; /* device memory that commands address directly and may still use */
    uint32_t ranges;
    uint32_t next;
    uint32_t command;    /* number of the command that looks up now */
    uint64_t generation; /* generation in which that command looks up */
    bool lost;           /* a mapping in use was overwritten: any memory may be in use */
};

#define REX_COMMAND_ANY UINT32_MAX /* number of a command that can no longer fail */

/*
 * Returns the generation to look up in. It is the current generation of the mappings, or, if
 * REMEMBER is false, a new one in which nothing was found.
 */
uint64_t rex_addresses_generation(bool remember);

/*
 * Begins the look-ups of the next command, in rex_addresses_generation(REMEMBER). If the command
 * fails, rex_addresses_undo() removes the marks that it was the first to set.
 */
void rex_addresses_begin(struct rex_addresses *addresses, bool remember);
void rex_addresses_undo(struct rex_addresses *addresses);

/*
 * Returns the device address of SIZE bytes at BEGIN, or 0 if they are not mapped whole. Marks their
 * mapping as used.
 */
uintptr_t rex_addresses_find(struct rex_addresses *addresses, const void *begin, size_t size,
                             int number);

/* Marks SIZE bytes of device memory at BEGIN, an address from a caller, as used. */
void rex_addresses_use_range(struct rex_addresses *addresses, uint64_t begin, size_t size);

/*
 * Returns true if SIZE bytes of the host at BEGIN, or their device memory on device NUMBER, are
 * marked as used.
 */
bool rex_addresses_in_use(const struct rex_addresses *addresses, const void *begin, size_t size,
                          int number);

/*
 * Returns true if SIZE bytes of the host at BEGIN are mapped, on device NUMBER, to a range that was
 * marked as used by its device address. NUMBER need not be the device of ADDRESSES.
 */
bool rex_addresses_ranges_in_use(const struct rex_addresses *addresses, const void *begin,
                                 size_t size, int number);

/* Marks all memory as unused. */
void rex_addresses_unmark(struct rex_addresses *addresses);

/* Marks all memory of FROM as used in TO. */
void rex_addresses_use_all(struct rex_addresses *to, const struct rex_addresses *from);

/*
 * Returns true if all mappings still exist at their addresses. They are then valid in GENERATION.
 * Returns false also if a mapping in use was overwritten.
 */
bool rex_addresses_renew(struct rex_addresses *addresses, int number, uint64_t generation);

#endif
