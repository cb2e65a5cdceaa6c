/*
 * addresses.c - a cache of device addresses of mapped memory.
 *
 * Each slot of the cache has one mapping. The hash of a host address selects a hint: the slot in
 * which the last address with this hash was found. If no slot has the memory, librex asks
 * libomptarget. If the present table shows the mapping around the memory, librex asks for the
 * device address of the whole mapping. Later look-ups in that mapping then find the mapping in the
 * cache.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/addresses.h"

#include "memory/rowlookup.h"
#include "present/present.h"

#define NEVER (UINT64_C(1) << 63)

uint64_t rex_addresses_generation(bool remember)
{
    static uint64_t rounds;
    /* Relaxed: each call only needs a different number. */
    return remember ? __atomic_load_n(&rex_mapping_generation, __ATOMIC_ACQUIRE)
                    : NEVER | __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
}

void rex_addresses_begin(struct rex_addresses *addresses, bool remember)
{
    addresses->command = addresses->command % (REX_COMMAND_ANY - 1) + 1;
    addresses->generation = rex_addresses_generation(remember);
}

void rex_addresses_undo(struct rex_addresses *addresses)
{
    for (size_t i = 0; i < REX_FOUND_MAPPINGS; i++)
        if (addresses->mapping[i].used == addresses->command)
            addresses->mapping[i].used = 0;
}

/* ---- look-ups -------------------------------------------------------------------------------- */

/* Returns true if MAPPING is valid in GENERATION and has SIZE bytes at AT. */
static inline bool has_memory(const struct rex_found_mapping *mapping, uintptr_t at, size_t size,
                              uint64_t generation)
{
    uintptr_t all = mapping->end - mapping->begin, into = at - mapping->begin;
    return mapping->generation == generation && into < all && size <= all - into;
}

/*
 * Returns the slot for a mapping. The slot is, in this order of preference:
 * - the slot that has exactly this memory;
 * - a slot that is not valid in GENERATION, and that no pending command uses;
 * - the next slot in turn.
 */
static struct rex_found_mapping *slot_for(struct rex_addresses *addresses, uintptr_t begin,
                                          uintptr_t end, uint64_t generation)
{
    struct rex_found_mapping *old = NULL;
    for (size_t i = 0; i < REX_FOUND_MAPPINGS; i++) {
        struct rex_found_mapping *mapping = &addresses->mapping[i];
        if (mapping->begin == begin && mapping->end == end)
            return mapping;
        if (old == NULL && mapping->generation != generation && mapping->used == 0)
            old = mapping;
    }
    if (old == NULL)
        old = &addresses->mapping[addresses->next++ % REX_FOUND_MAPPINGS];
    addresses->lost |= old->used != 0;
    old->used = 0;
    return old;
}

/*
 * Looks up SIZE bytes at BEGIN on device NUMBER, and caches the result. Returns NULL if no mapping
 * has all bytes.
 */
static struct rex_found_mapping *ask_where(struct rex_addresses *addresses, const void *begin,
                                           size_t size, int number)
{
    void *device = NULL;
    enum rex_presence presence = rex_memory_find(begin, size, number, &device);
    if (presence == REX_ABSENT && rex_presence_after_load(begin, size, number) == REX_PRESENT_WHOLE)
        presence = rex_memory_find(begin, size, number, &device);
    if (presence != REX_PRESENT_WHOLE)
        return NULL;
    uintptr_t at = (uintptr_t)begin, end = at + (size > 0 ? size : 1);
    struct rex_found_mapping *mapping = slot_for(addresses, at, end, addresses->generation);
    *mapping = (struct rex_found_mapping){at, end, (uintptr_t)device - at, addresses->generation,
                                          mapping->used};
    return mapping;
}

/* Searches all slots of the cache. If no slot has the memory, asks libomptarget. */
static struct rex_found_mapping *look_up_slowly(struct rex_addresses *addresses, const void *begin,
                                                size_t size, int number)
{
    struct rex_mapping row;
    struct rex_found_mapping *whole = NULL;
    for (size_t i = 0; i < REX_FOUND_MAPPINGS; i++)
        if (has_memory(&addresses->mapping[i], (uintptr_t)begin, size, addresses->generation))
            return &addresses->mapping[i];
    if (rex_mapping_find(begin, size, number, &row))
        whole = ask_where(addresses, (const void *)row.begin, row.end - row.begin, number);
    return whole != NULL ? whole : ask_where(addresses, begin, size, number);
}

uintptr_t rex_addresses_find(struct rex_addresses *addresses, const void *begin, size_t size,
                             int number)
{
    uintptr_t at = (uintptr_t)begin;
    uint8_t *hint = &addresses->hint[((at >> 4) ^ (at >> 12) ^ (at >> 20)) % REX_FOUND_HINTS];
    struct rex_found_mapping *mapping = &addresses->mapping[*hint];
    if (__builtin_expect(!has_memory(mapping, at, size, addresses->generation), 0)) {
        mapping = look_up_slowly(addresses, begin, size, number);
        if (mapping == NULL)
            return 0;
        *hint = (uint8_t)(mapping - addresses->mapping);
    }
    if (mapping->used == 0)
        mapping->used = addresses->command;
    return at + mapping->shift;
}

/* ---- use ------------------------------------------------------------------------------------- */

/*
 * Stores the range of SIZE bytes at BEGIN in a free element of `range`. If the range touches an
 * element, or no element is free, extends the element that grows least. An extended element may
 * include memory that no command uses.
 */
void rex_addresses_use_range(struct rex_addresses *addresses, uint64_t begin, size_t size)
{
    uint64_t end = begin + size, least = UINT64_MAX;
    uint32_t nearest = 0;
    if (size == 0)
        return;
    for (uint32_t i = 0; i < addresses->ranges; i++) {
        uint64_t first = addresses->range[i].begin, last = addresses->range[i].end, growth = 0;
        if (begin < first)
            growth += first - begin;
        if (end > last)
            growth += end - last;
        if (growth < least) {
            least = growth;
            nearest = i;
        }
    }
    if (addresses->ranges < REX_DEVICE_RANGES && least > size) {
        addresses->range[addresses->ranges].begin = begin;
        addresses->range[addresses->ranges++].end = end;
        return;
    }
    if (begin < addresses->range[nearest].begin)
        addresses->range[nearest].begin = begin;
    if (end > addresses->range[nearest].end)
        addresses->range[nearest].end = end;
}

bool rex_addresses_ranges_in_use(const struct rex_addresses *addresses, const void *begin,
                                 size_t size, int number)
{
    void *device = NULL;
    if (addresses->ranges == 0 ||
        rex_memory_find(begin, size, number, &device) != REX_PRESENT_WHOLE)
        return false;
    uint64_t at = (uint64_t)(uintptr_t)device;
    for (uint32_t i = 0; i < addresses->ranges; i++)
        if (addresses->range[i].begin < at + size && at < addresses->range[i].end)
            return true;
    return false;
}

bool rex_addresses_in_use(const struct rex_addresses *addresses, const void *begin, size_t size,
                          int number)
{
    uintptr_t at = (uintptr_t)begin;
    if (addresses->lost)
        return true;
    for (size_t i = 0; i < REX_FOUND_MAPPINGS; i++)
        if (addresses->mapping[i].used != 0 && addresses->mapping[i].begin < at + size &&
            at < addresses->mapping[i].end)
            return true;
    return rex_addresses_ranges_in_use(addresses, begin, size, number);
}

void rex_addresses_unmark(struct rex_addresses *addresses)
{
    for (size_t i = 0; i < REX_FOUND_MAPPINGS; i++)
        addresses->mapping[i].used = 0;
    addresses->ranges = 0;
    addresses->lost = false;
}

void rex_addresses_use_all(struct rex_addresses *to, const struct rex_addresses *from)
{
    to->lost |= from->lost;
    for (uint32_t i = 0; i < from->ranges; i++)
        rex_addresses_use_range(to, from->range[i].begin,
                                (size_t)(from->range[i].end - from->range[i].begin));
    for (size_t i = 0; i < REX_FOUND_MAPPINGS && from->mapping[i].generation != 0; i++) {
        const struct rex_found_mapping *wanted = &from->mapping[i];
        struct rex_found_mapping *mapping = to->mapping, *end = mapping + REX_FOUND_MAPPINGS;
        while (mapping < end && !(mapping->begin <= wanted->begin && wanted->end <= mapping->end))
            mapping++;
        if (mapping == end) {
            mapping = slot_for(to, wanted->begin, wanted->end, wanted->generation);
            *mapping = *wanted;
        }
        mapping->used = REX_COMMAND_ANY;
    }
}

bool rex_addresses_renew(struct rex_addresses *addresses, int number, uint64_t generation)
{
    for (size_t i = 0; i < REX_FOUND_MAPPINGS; i++) {
        struct rex_found_mapping *mapping = &addresses->mapping[i];
        if (mapping->generation == 0 || mapping->generation == generation)
            continue;
        void *device = NULL;
        if (rex_memory_find((const void *)mapping->begin, mapping->end - mapping->begin, number,
                            &device) != REX_PRESENT_WHOLE ||
            (uintptr_t)device - mapping->begin != mapping->shift)
            return false;
        mapping->generation = generation;
    }
    return !addresses->lost;
}
