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

/* A range of host memory that lies in one mapping on a device. */
struct rex_found_mapping {
    uintptr_t begin, end;
    uintptr_t shift;     /* device address minus host address */
    uint64_t generation; /* rex_mapping_generation at the look-up; 0: free slot */
    uint32_t used;       /* number of the first pending command that uses the range; 0: unused */
};

/*
 * The device addresses that one queue or graph has looked up. The lock of the queue or graph guards
 * this struct. A struct of zeros is an empty cache.
 */
struct rex_addresses {
    struct rex_found_mapping mapping[REX_FOUND_MAPPINGS];
    uint8_t hint[REX_FOUND_HINTS]; /* index of the mapping for the hash of an address */
    struct {
        uint64_t begin, end;
        /* ranges of device addresses that the program passed to pending commands */
    } range[REX_DEVICE_RANGES];
    uint32_t ranges;
    uint32_t next;
    uint32_t command;    /* number of the command that is being added */
    uint64_t generation; /* generation for the look-ups of that command */
    bool lost;           /* a used slot was overwritten, so all memory is treated as used */
};

#define REX_COMMAND_ANY UINT32_MAX /* value of `used` for a command that can no longer fail */

/*
 * Returns the generation for look-ups. If REMEMBER is true, returns rex_mapping_generation
 * (present/present.h), which changes when a mapping may have ended. Look-ups of earlier commands
 * are valid if their generation equals the returned number. If REMEMBER is false, returns a new
 * number, so no earlier look-up is valid.
 */
uint64_t rex_addresses_generation(bool remember);

/*
 * Call rex_addresses_begin() before the look-ups of a new command of the queue or graph. If
 * REMEMBER is true, the command may use look-ups of earlier commands (rex_addresses_generation()).
 * If the command fails, call rex_addresses_undo(), which marks as unused each mapping that this
 * command was the first to use.
 */
void rex_addresses_begin(struct rex_addresses *addresses, bool remember);
void rex_addresses_undo(struct rex_addresses *addresses);

/*
 * Returns the device address of SIZE bytes at BEGIN on device NUMBER, and marks their mapping as
 * used. Returns 0 if no mapping has all bytes.
 */
uintptr_t rex_addresses_find(struct rex_addresses *addresses, const void *begin, size_t size,
                             int number);

/* Marks SIZE bytes at BEGIN as used. BEGIN is a device address that the program gave. */
void rex_addresses_use_range(struct rex_addresses *addresses, uint64_t begin, size_t size);

/*
 * Returns true if a part of the SIZE bytes at BEGIN is marked as used. Also returns true if a part
 * of the device memory of these bytes on device NUMBER is marked as used. The bytes need not be
 * mapped.
 */
bool rex_addresses_in_use(const struct rex_addresses *addresses, const void *begin, size_t size,
                          int number);

/*
 * Returns true if rex_addresses_use_range() has marked a part of the device memory to which the
 * SIZE bytes at BEGIN are mapped on device NUMBER. Returns false if the bytes are not mapped.
 * NUMBER may differ from the device of ADDRESSES.
 */
bool rex_addresses_ranges_in_use(const struct rex_addresses *addresses, const void *begin,
                                 size_t size, int number);

/* Marks all memory as unused. */
void rex_addresses_unmark(struct rex_addresses *addresses);

/* Adds to TO all memory that FROM has, and marks this memory as used in TO. */
void rex_addresses_use_all(struct rex_addresses *to, const struct rex_addresses *from);

/*
 * Looks up all mappings of ADDRESSES again on device NUMBER. If each mapping still has its device
 * address, and no used slot was overwritten, makes the look-ups valid in GENERATION, and returns
 * true. Returns false in all other cases, for example if a mapping has ended.
 */
bool rex_addresses_renew(struct rex_addresses *addresses, int number, uint64_t generation);

#endif
