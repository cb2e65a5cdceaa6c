/*
 * addresses.c - a cache of device addresses of mapped memory.
 *
 * A launch like the one before it finds its sections in `recent`. A new section of memory found
 * before lies in a mapping of the cache. libomptarget is asked only for other sections. If the
 * index has the whole mapping, it is asked for that, so that later sections in it need no question.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/addresses.h"

#include <string.h>

#include "memory/presence.h"
#include "omp/forward.h"
#include "omp/present.h"
#include "rex/launch.h"

#define NEVER (UINT64_C(1) << 63)

uint64_t rex_addresses_generation(bool remember)
{
    static uint64_t rounds;
    /* Relaxed: the number only has to be different in each round. */
    return remember ? rex_mapping_now() : NEVER | __atomic_add_fetch(&rounds, 1, __ATOMIC_RELAXED);
}

static struct rex_found_mapping *known(struct rex_addresses *addresses, uintptr_t begin,
                                       size_t size, uint64_t generation)
{
    for (size_t i = 0; i < REX_FOUND_MAPPINGS; i++) {
        struct rex_found_mapping *mapping = &addresses->mapping[i];
        if (mapping->generation == generation && begin >= mapping->begin && begin < mapping->end &&
            size <= mapping->end - begin)
            return mapping;
    }
    return NULL;
}

/* The slot for another mapping: that of the same memory, else an old one, else the next in turn. */
static struct rex_found_mapping *slot_for(struct rex_addresses *addresses, uintptr_t begin,
                                          uintptr_t end, uint64_t generation)
{
    struct rex_found_mapping *old = NULL;
    for (size_t i = 0; i < REX_FOUND_MAPPINGS; i++) {
        struct rex_found_mapping *mapping = &addresses->mapping[i];
        if (mapping->begin == begin && mapping->end == end)
            return mapping;
        if (old == NULL && mapping->generation != generation && !mapping->used)
            old = mapping;
    }
    if (old == NULL)
        old = &addresses->mapping[addresses->next++ % REX_FOUND_MAPPINGS];
    addresses->lost |= old->used;
    if (old->generation != 0)
        /* the recent sections refer to the slot by number, in other generations, too */
        memset(addresses->recent, 0, sizeof addresses->recent);
    return old;
}

/* Asks libomptarget for SIZE bytes at BEGIN; NULL if they are not mapped whole. */
static struct rex_found_mapping *ask(struct rex_addresses *addresses, const void *begin,
                                     size_t size, int number, uint64_t generation)
{
    void *device = NULL;
    enum rex_presence presence = rex_memory_find(begin, size, number, &device);
    if (presence == REX_ABSENT && rex_presence_after_load(begin, size, number) == REX_PRESENT_WHOLE)
        presence = rex_memory_find(begin, size, number, &device);
    if (presence != REX_PRESENT_WHOLE)
        return NULL;
    uintptr_t at = (uintptr_t)begin, end = at + (size > 0 ? size : 1);
    struct rex_found_mapping *mapping = slot_for(addresses, at, end, generation);
    *mapping = (struct rex_found_mapping){at, end, (uintptr_t)device - at, generation, true};
    return mapping;
}

static struct rex_found_mapping *ask_for_row(struct rex_addresses *addresses, uintptr_t begin,
                                             size_t size, int number, uint64_t generation)
{
    struct rex_mapping row;
    if (!rex_mapping_find((const void *)begin, size, number, &row))
        return NULL;
    return ask(addresses, (const void *)row.begin, row.end - row.begin, number, generation);
}

uintptr_t rex_addresses_look_up(struct rex_addresses *addresses, uintptr_t begin, size_t size,
                                int number, uint64_t generation)
{
    struct rex_found_mapping *mapping = known(addresses, begin, size, generation);
    if (mapping == NULL)
        mapping = ask_for_row(addresses, begin, size, number, generation);
    if (mapping == NULL)
        mapping = ask(addresses, (const void *)begin, size, number, generation);
    if (mapping == NULL)
        return 0;
    size_t slot = rex_addresses_slot(begin);
    mapping->used = true;
    addresses->recent[slot].begin = begin;
    addresses->recent[slot].size = size;
    addresses->recent[slot].device = begin + mapping->shift;
    addresses->recent[slot].generation = generation;
    addresses->recent[slot].mapping = (uint32_t)(mapping - addresses->mapping);
    return begin + mapping->shift;
}

/* ---- use ------------------------------------------------------------------------------------- */

static uint64_t growth(const struct rex_addresses *addresses, uint32_t i, uint64_t begin,
                       uint64_t end)
{
    uint64_t before = begin < addresses->range[i].begin ? addresses->range[i].begin - begin : 0;
    uint64_t behind = end > addresses->range[i].end ? end - addresses->range[i].end : 0;
    return before + behind;
}

/*
 * Extends the nearest range, the one that grows least, if it touches the new one or there is no
 * slot. So more memory than is used may count as used.
 */
void rex_addresses_use_range(struct rex_addresses *addresses, uint64_t begin, size_t size)
{
    uint64_t end = begin + size;
    uint32_t nearest = 0;
    for (uint32_t i = 1; i < addresses->ranges; i++)
        if (growth(addresses, i, begin, end) < growth(addresses, nearest, begin, end))
            nearest = i;
    if (size == 0)
        return;
    if (addresses->ranges < REX_DEVICE_RANGES &&
        (addresses->ranges == 0 || growth(addresses, nearest, begin, end) > size)) {
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
        if (addresses->mapping[i].used && addresses->mapping[i].begin < at + size &&
            at < addresses->mapping[i].end)
            return true;
    return rex_addresses_ranges_in_use(addresses, begin, size, number);
}

void rex_addresses_unmark(struct rex_addresses *addresses)
{
    for (size_t i = 0; i < REX_FOUND_MAPPINGS; i++)
        addresses->mapping[i].used = false;
    addresses->ranges = 0;
    addresses->lost = false;
}

/* Whether TO has a mapping with all of MAPPING; it is marked as used then. */
static bool use(struct rex_addresses *to, const struct rex_found_mapping *mapping)
{
    for (size_t i = 0; i < REX_FOUND_MAPPINGS; i++)
        if (to->mapping[i].begin <= mapping->begin && mapping->end <= to->mapping[i].end) {
            to->mapping[i].used = true;
            return true;
        }
    return false;
}

void rex_addresses_use_all(struct rex_addresses *to, const struct rex_addresses *from)
{
    to->lost |= from->lost;
    for (uint32_t i = 0; i < from->ranges; i++)
        rex_addresses_use_range(to, from->range[i].begin,
                                (size_t)(from->range[i].end - from->range[i].begin));
    for (size_t i = 0; i < REX_FOUND_MAPPINGS && from->mapping[i].generation != 0; i++)
        if (!use(to, &from->mapping[i])) {
            struct rex_found_mapping *mapping = slot_for(
                to, from->mapping[i].begin, from->mapping[i].end, from->mapping[i].generation);
            *mapping = from->mapping[i];
            mapping->used = true;
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
