/*
 * datacopies.c - rows of data calls that librex copies itself.
 *
 * libomptarget maps all rows. It copies each row by a call of the driver, and waits for each copy.
 * librex may copy instead if librex sees all calls, and no pointer is attached in mapped memory.
 * Then threads copy large rows, and librex waits once for several small or pinned rows. At the end
 * of a region librex copies a row back only if the call certainly ends the mapping. If the mapping
 * may stay, libomptarget copies the row.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/datacopies.h"

#include <stdlib.h>

#include "base/error.h"
#include "calls/callreport.h"
#include "calls/calls.h"
#include "cuda/driver.h"
#include "memory/makecopy.h"
#include "memory/rowlookup.h"
#include "omp/backend.h"
#include "present/lookup.h"
#include "present/presentcalls.h"
#include "trace/trace.h"

static bool are_rows_plain(const struct rex_map *map)
{
    bool plain = true;
    for (int32_t i = 0; i < map->count; i++)
        plain &= !rex_row_has(map->types[i], ~REX_ROW_MAPPED) &&
                 (map->mappers == NULL || map->mappers[i] == NULL);
    return plain;
}

/* Returns true if librex, in place of libomptarget, may copy rows of MAP. */
static bool may_copy_rows(const struct rex_map *map)
{
    return are_rows_plain(map) && rex_cuda_need(REX_CUDA_QUEUES) == 0 &&
           !rex_pointers_are_attached() && rex_process_reasons() == 0;
}

/* ---- updates --------------------------------------------------------------------------------- */

/*
 * Cuts the rows of MAP into parts without attached pointers. An attached pointer is a pointer in
 * mapped memory whose value on the device is a device address. Example: a row of 64 bytes has an
 * attached pointer at byte 24. Its parts are the bytes 0 to 23 and 32 to 63.
 *
 * If PARTS is not NULL, writes the parts to PARTS. Returns the number of parts. Sets *HAS_POINTERS
 * to true if a row has an attached pointer.
 */
static size_t cut_at_pointers(const struct rex_map *map, int number, struct rex_map *parts,
                              bool *has_pointers)
{
    size_t count = 0;
    *has_pointers = false;
    for (int32_t i = 0; i < map->count; i++) {
        uintptr_t at = (uintptr_t)map->begin[i], end = at + (uintptr_t)map->sizes[i], next;
        bool is_last;
        do {
            uintptr_t pointer = end;
            is_last = !rex_attached_find(at, end, number, &pointer);
            *has_pointers |= !is_last;
            next = pointer + sizeof(void *);
            if (parts != NULL && (at < pointer || at == end)) {
                parts->base[count] = parts->begin[count] = (void *)at;
                parts->sizes[count] = (int64_t)(pointer - at);
                parts->types[count] = map->types[i];
            }
            count += at < pointer || at == end;
            at = next;
        } while (!is_last && at < end);
    }
    return count;
}

/*
 * Updates the rows of MAP, except their attached pointers. COUNT is the result of
 * cut_at_pointers(). If libomptarget updated whole rows, it would first copy the host's pointers to
 * the device, and then write the device addresses back. In between, a kernel could follow a host
 * pointer.
 */
static int update_beside_pointers(const char *what, int64_t device, int number,
                                  const struct rex_map *map, size_t count)
{
    size_t bytes = count * (2 * sizeof(void *) + 2 * sizeof(int64_t));
    bool has_pointers;
    if (count == 0)
        return REX_OK;
    void **base = malloc(bytes);
    if (base == NULL)
        return rex_fail_memory(bytes, what);
    struct rex_map parts = {.count = (int32_t)count, .base = base, .begin = base + count};
    parts.sizes = (void *)(parts.begin + count);
    parts.types = parts.sizes + count;
    cut_at_pointers(map, number, &parts, &has_pointers);
    int result = rex_call_data(REX_DATA_UPDATE, what, device, &parts);
    free(base);
    return result;
}

int rex_rows_update(const char *what, int64_t device, int number, const struct rex_map *map)
{
    struct rex_copy *copies = NULL;
    if (are_rows_plain(map)) {
        bool has_pointers;
        size_t count = cut_at_pointers(map, number, NULL, &has_pointers);
        if (has_pointers)
            return update_beside_pointers(what, device, number, map, count);
    }
    if (map->count > 0 && may_copy_rows(map))
        copies = malloc((size_t)map->count * sizeof *copies);
    if (copies == NULL)
        return rex_call_data(REX_DATA_UPDATE, what, device, map);
    for (int32_t i = 0; i < map->count; i++) {
        int64_t direction = map->types[i] & REX_MAP_TOFROM;
        uintptr_t begin = (uintptr_t)map->begin[i];
        struct rex_copy copy = {.host = map->begin[i],
                                .size = (size_t)map->sizes[i],
                                .to_host = direction == REX_MAP_FROM};
        struct rex_mapping found;
        copies[i] = (struct rex_copy){.size = 0};
        /*
         * Copy only a row that has one direction and lies in one mapping of the present table. The
         * mapping must not have an attached pointer.
         */
        if (copy.size == 0 || (direction != REX_MAP_TO && direction != REX_MAP_FROM) ||
            !rex_mapping_find(copy.host, copy.size, number, &found) || found.device == 0 ||
            found.is_attached)
            continue;
        copy.device = found.device + (begin - found.begin);
        if (rex_copy_is_ours(&copy))
            copies[i] = copy;
    }
    bool traced = rex_trace_on();
    struct rex_call_trace trace = {.packet = rex_packet_of_map(map)};
    if (traced)
        rex_call_trace_begin(&trace, "cuMemcpyAsync", number);
    rex_trace_depth++;
    int32_t done = 0; /* number of rows that are updated */
    int result = REX_OK;
    for (int32_t i = 0, some = 1; i <= map->count && result == REX_OK; i += some) {
        /*
         * True if librex has copied rows `i` to `i + some - 1`, or if no row is left. In both cases
         * libomptarget updates rows `done` to `i - 1`, which librex has not copied.
         */
        bool are_copied = i == map->count;
        if (i < map->count)
            some =
                (int32_t)rex_copy_some(copies + i, (size_t)(map->count - i), number, &are_copied);
        if (!are_copied)
            continue;
        struct rex_map rows = rex_rows_from(map, done, i - done);
        if (rows.count > 0)
            result = rex_call_data(REX_DATA_UPDATE, what, device, &rows);
        done = i + some;
    }
    rex_trace_depth--;
    free(copies);
    if (traced)
        rex_call_trace_data(&trace, what, REX_MAP_TOFROM);
    return result;
}

/* ---- the begin of a region ------------------------------------------------------------------- */

/*
 * Calls rex_copy_some(), and returns its result. If *ARE_MADE is true after the call, librex has
 * made the copies, and this function writes them to the trace.
 */
static int32_t copy_and_trace(const struct rex_copy *copies, int32_t count, int number,
                              bool *are_made)
{
    uint64_t begin = rex_phase_begin(), size = 0;
    int32_t some = (int32_t)rex_copy_some(copies, (size_t)count, number, are_made);
    for (int32_t i = 0; i < some; i++)
        size += copies[i].size;
    if (*are_made)
        rex_copy_took(begin, copies[0].to_host ? REX_COPIED_FROM : REX_COPIED_TO, size, number);
    return some;
}

/*
 * Allocates in one block an array of types and an array of copies, with one element for each row of
 * MAP. Returns NULL if MAP has no rows, if libomptarget has to copy (may_copy_rows()), or if memory
 * is short.
 */
static int64_t *types_and_copies(const struct rex_map *map, struct rex_copy **copies)
{
    size_t count = (size_t)map->count, row = sizeof(int64_t) + sizeof **copies;
    int64_t *types = count > 0 && may_copy_rows(map) ? malloc(count * row) : NULL;
    *copies = types != NULL ? (void *)(types + count) : NULL;
    return types;
}

int rex_rows_begin(const char *what, int64_t device, int number, const struct rex_map *map)
{
    struct rex_copy *copies;
    int64_t *types = types_and_copies(map, &copies), to = REX_MAP_TO;
    if (types == NULL)
        return rex_call_data(REX_DATA_BEGIN, what, device, map);
    struct rex_map begun = *map;
    begun.types = types;
    for (int32_t i = 0; i < map->count; i++) {
        struct rex_copy copy = {.host = map->begin[i], .size = (size_t)map->sizes[i]};
        types[i] = map->types[i];
        copies[i] = (struct rex_copy){.host = copy.host};
        /*
         * librex copies after libomptarget's begin call, which gives the row its device address.
         * Between the begin call and the copy, a launch by another thread may use memory that was
         * mapped earlier. But the launch waits if this begin call makes the mapping. So librex
         * copies only a row that makes a mapping.
         */
        if ((types[i] & REX_MAP_TO) && copy.size > 0 &&
            rex_mapping_is_new(copy.host, copy.size, number) &&
            rex_is_absent(copy.host, copy.size, number) && rex_copy_is_ours(&copy)) {
            copies[i] = copy;
            types[i] &= ~REX_MAP_TO;
        }
    }
    int result = rex_call_data(REX_DATA_BEGIN, what, device, &begun);
    for (int32_t i = 0; result == REX_OK && i < map->count; i++) {
        void *there = NULL;
        if (copies[i].size > 0)
            rex_memory_find(copies[i].host, copies[i].size, number, &there);
        copies[i].device = (uintptr_t)there;
    }
    for (int32_t i = 0, some; result == REX_OK && i < map->count; i += some) {
        bool are_made;
        some = copy_and_trace(copies + i, map->count - i, number, &are_made);
        for (int32_t j = i; !are_made && result == REX_OK && j < i + some; j++) {
            /* libomptarget copies the rows that librex could not copy. */
            struct rex_map row = rex_rows_from(map, j, 1);
            row.types = &to;
            if (copies[j].size > 0)
                result = rex_call_data(REX_DATA_UPDATE, what, device, &row);
        }
    }
    free(types);
    return result;
}

/* ---- the end of a region --------------------------------------------------------------------- */

int64_t *rex_rows_copy_back(const struct rex_map *map, int number)
{
    struct rex_copy *copies;
    int64_t *types = rex_all_mappings_are_seen() ? types_and_copies(map, &copies) : NULL;
    if (types == NULL)
        return NULL;
    for (int32_t i = 0; i < map->count; i++) {
        struct rex_copy copy = {
            .host = map->begin[i], .size = (size_t)map->sizes[i], .to_host = true};
        struct rex_mapping found;
        types[i] = map->types[i];
        copies[i] = (struct rex_copy){.host = copy.host, .to_host = true};
        /* Copy only a row whose mapping this call certainly ends. */
        if (!(types[i] & REX_MAP_FROM) || (types[i] & REX_MAP_OMPX_HOLD) ||
            !rex_mapping_is_ending(copy.host, copy.size, number, &found) || found.is_attached ||
            found.device == 0)
            continue;
        copy.device = found.device;
        if (rex_copy_is_ours(&copy))
            copies[i] = copy;
    }
    for (int32_t i = 0, some; i < map->count; i += some) {
        bool are_made;
        some = copy_and_trace(copies + i, map->count - i, number, &are_made);
        for (int32_t j = i; are_made && j < i + some; j++)
            types[j] &= ~REX_MAP_FROM;
    }
    return types;
}
