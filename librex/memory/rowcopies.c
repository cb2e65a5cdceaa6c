/*
 * rowcopies.c - rows of data calls that librex copies itself.
 *
 * libomptarget maps all rows, and copies each with a call of the driver that waits. librex may copy
 * instead if it sees all calls and no pointer is attached in the memory. Then threads copy large
 * rows, and small rows go together. At the end of a region a row is copied back so only if that
 * certainly ends its mapping; else libomptarget counts and copies.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/rowcopies.h"

#include <stdlib.h>

#include "base/error.h"
#include "calls/callreport.h"
#include "calls/calls.h"
#include "cuda/driver.h"
#include "memory/copies.h"
#include "memory/presence.h"
#include "omp/backend.h"
#include "present/lookup.h"
#include "present/presentcalls.h"
#include "trace/trace.h"

#define PLAIN_BITS                                                                               \
    (REX_MAP_TOFROM | REX_MAP_ALWAYS | REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT | REX_MAP_CLOSE | \
     REX_MAP_PRESENT | REX_MAP_OMPX_HOLD)

static bool are_plain(const struct rex_map *map)
{
    bool plain = true;
    for (int32_t i = 0; i < map->count; i++)
        plain &=
            !(map->types[i] & ~PLAIN_BITS) && (map->mappers == NULL || map->mappers[i] == NULL);
    return plain;
}

/* Whether librex may copy rows of MAP itself. */
static bool may_copy(const struct rex_map *map)
{
    return are_plain(map) && rex_cuda_need(REX_CUDA_QUEUES) == 0 && !rex_pointers_are_attached() &&
           rex_process_reasons() == 0;
}

/* ---- updates --------------------------------------------------------------------------------- */

/*
 * Row I as a copy in one direction; its size is 0 if the index does not know where it is mapped, or
 * if a pointer is attached there.
 */
static struct rex_copy copy_of(const struct rex_map *map, int32_t i, int number)
{
    int64_t direction = map->types[i] & REX_MAP_TOFROM;
    size_t size = (size_t)map->sizes[i];
    struct rex_copy none = {.size = 0};
    struct rex_mapping found;
    if (size == 0 || (direction != REX_MAP_TO && direction != REX_MAP_FROM) ||
        !rex_mapping_find(map->begin[i], size, number, &found) || found.device == 0 ||
        found.is_attached)
        return none;
    struct rex_copy copy = {.host = map->begin[i],
                            .device = found.device + ((uintptr_t)map->begin[i] - found.begin),
                            .size = size,
                            .to_host = direction == REX_MAP_FROM};
    return rex_copy_is_ours(&copy) ? copy : none;
}

static int update_some(const char *what, int64_t device, const struct rex_map *map, int32_t first,
                       int32_t count)
{
    struct rex_map some = rex_rows_from(map, first, count);
    return count > 0 ? rex_call_data(REX_DATA_UPDATE, what, device, &some) : REX_OK;
}

/* Has libomptarget copy the rows that librex does not copy. */
static int update_rows(const char *what, int64_t device, const struct rex_map *map,
                       const struct rex_copy *copies)
{
    int32_t done = 0, some = 0;
    int result = REX_OK;
    for (int32_t i = 0; i < map->count && result == REX_OK; i += some) {
        bool are_copied;
        some = (int32_t)rex_copy_some(copies + i, (size_t)(map->count - i), &are_copied);
        if (are_copied) {
            result = update_some(what, device, map, done, i - done);
            done = i + some;
        }
    }
    return result == REX_OK ? update_some(what, device, map, done, map->count - done) : result;
}

/*
 * Writes the parts of the rows of MAP that no attached pointer has to PARTS, unless that is NULL.
 * Returns how many there are.
 */
static int32_t cut(const struct rex_map *map, int number, struct rex_map *parts)
{
    int32_t count = 0;
    for (int32_t i = 0; i < map->count; i++) {
        uintptr_t at = (uintptr_t)map->begin[i], end = at + (uintptr_t)map->sizes[i], next;
        bool is_last;
        do {
            uintptr_t pointer = end;
            is_last = !rex_attached_find(at, end, number, &pointer);
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

static bool have_pointers(const struct rex_map *map, int number)
{
    uintptr_t pointer;
    bool some = false;
    for (int32_t i = 0; i < map->count && !some; i++)
        some = rex_attached_find((uintptr_t)map->begin[i],
                                 (uintptr_t)map->begin[i] + (uintptr_t)map->sizes[i], number,
                                 &pointer);
    return some;
}

/*
 * libomptarget would copy the host's pointers, and put the device's back afterwards. A kernel could
 * follow the host's in between.
 */
static int update_beside_pointers(const char *what, int64_t device, int number,
                                  const struct rex_map *map)
{
    size_t count = (size_t)cut(map, number, NULL);
    size_t bytes = count * (2 * sizeof(void *) + 2 * sizeof(int64_t));
    void **base = malloc(bytes > 0 ? bytes : 1);
    if (base == NULL)
        return rex_fail_memory(bytes, what);
    struct rex_map parts = {.count = (int32_t)count, .base = base, .begin = base + count};
    parts.sizes = (void *)(parts.begin + count);
    parts.types = parts.sizes + count;
    cut(map, number, &parts);
    int result = count > 0 ? rex_call_data(REX_DATA_UPDATE, what, device, &parts) : REX_OK;
    free(base);
    return result;
}

int rex_rows_update(const char *what, int64_t device, int number, const struct rex_map *map)
{
    if (are_plain(map) && have_pointers(map, number))
        return update_beside_pointers(what, device, number, map);
    struct rex_copy *copies =
        map->count > 0 && may_copy(map) ? malloc((size_t)map->count * sizeof *copies) : NULL;
    if (copies == NULL)
        return rex_call_data(REX_DATA_UPDATE, what, device, map);
    for (int32_t i = 0; i < map->count; i++)
        copies[i] = copy_of(map, i, number);
    bool traced = rex_trace_on();
    struct rex_call_trace trace = {.packet = rex_packet_of_map(map)};
    if (traced)
        rex_call_trace_begin(&trace, "cuMemcpyAsync", number);
    rex_trace_depth++;
    int result = update_rows(what, device, map, copies);
    rex_trace_depth--;
    free(copies);
    if (traced)
        rex_call_trace_data(&trace, what, REX_MAP_TOFROM);
    return result;
}

/* ---- the begin of a region ------------------------------------------------------------------- */

/* As rex_copy_some(), for the trace, too. */
static int32_t copy_some(const struct rex_copy *copies, int32_t count, int number, bool *are_made)
{
    uint64_t begin = rex_phase_begin(), size = 0;
    int32_t some = (int32_t)rex_copy_some(copies, (size_t)count, are_made);
    for (int32_t i = 0; i < some; i++)
        size += copies[i].size;
    if (*are_made)
        rex_copy_took(begin, copies[0].to_host ? REX_COPIED_FROM : REX_COPIED_TO, size, number);
    return some;
}

/*
 * Row I as a copy to the device, whose address is not known yet. Its size is 0 unless the row makes
 * a mapping of its own, which no launch by libomptarget may use meanwhile.
 */
static struct rex_copy copy_to(const struct rex_map *map, int32_t i, int number)
{
    struct rex_copy copy = {.host = map->begin[i], .size = (size_t)map->sizes[i]};
    bool is_new = (map->types[i] & REX_MAP_TO) && copy.size > 0 &&
                  rex_mapping_is_new(copy.host, copy.size, number) &&
                  rex_is_absent(copy.host, copy.size, number);
    copy.size = is_new && rex_copy_is_ours(&copy) ? copy.size : 0;
    return copy;
}

/* Has libomptarget copy the rows from FIRST on that librex could not copy. */
static int copy_as_update(const char *what, int64_t device, const struct rex_map *map,
                          const struct rex_copy *copies, int32_t first, int32_t count)
{
    int64_t to = REX_MAP_TO;
    int result = REX_OK;
    for (int32_t i = first; i < first + count && result == REX_OK; i++) {
        struct rex_map row = rex_rows_from(map, i, 1);
        row.types = &to;
        if (copies[i].size > 0)
            result = rex_call_data(REX_DATA_UPDATE, what, device, &row);
    }
    return result;
}

/* Makes the copies of rows that libomptarget has just mapped. */
static int copy_all_to(const char *what, int64_t device, int number, const struct rex_map *map,
                       struct rex_copy *copies)
{
    int32_t some;
    int result = REX_OK;
    for (int32_t i = 0; i < map->count; i++) {
        void *there = NULL;
        if (copies[i].size > 0)
            rex_memory_find(copies[i].host, copies[i].size, number, &there);
        copies[i].device = (uintptr_t)there;
    }
    for (int32_t i = 0; i < map->count && result == REX_OK; i += some) {
        bool are_made;
        some = copy_some(copies + i, map->count - i, number, &are_made);
        if (!are_made)
            result = copy_as_update(what, device, map, copies, i, some);
    }
    return result;
}

/* The rows' types, then their copies; NULL where librex does not copy. */
static int64_t *types_and_copies(const struct rex_map *map, struct rex_copy **copies)
{
    size_t count = (size_t)map->count, row = sizeof(int64_t) + sizeof **copies;
    int64_t *types = count > 0 && may_copy(map) ? malloc(count * row) : NULL;
    *copies = types != NULL ? (void *)(types + count) : NULL;
    return types;
}

int rex_rows_begin(const char *what, int64_t device, int number, const struct rex_map *map)
{
    struct rex_copy *copies;
    int64_t *types = types_and_copies(map, &copies);
    if (types == NULL)
        return rex_call_data(REX_DATA_BEGIN, what, device, map);
    struct rex_map begun = *map;
    begun.types = types;
    for (int32_t i = 0; i < map->count; i++) {
        copies[i] = copy_to(map, i, number);
        types[i] = map->types[i] & ~(copies[i].size > 0 ? REX_MAP_TO : INT64_C(0));
    }
    int result = rex_call_data(REX_DATA_BEGIN, what, device, &begun);
    if (result == REX_OK)
        result = copy_all_to(what, device, number, map, copies);
    free(types);
    return result;
}

/* ---- the end of a region --------------------------------------------------------------------- */

/* Row I as a copy to the host; its size is 0 unless the call ends the mapping. */
static struct rex_copy copy_back(const struct rex_map *map, int32_t i, int number)
{
    struct rex_copy copy = {.host = map->begin[i], .to_host = true};
    struct rex_mapping found;
    if ((map->types[i] & REX_MAP_FROM) && !(map->types[i] & REX_MAP_OMPX_HOLD) &&
        rex_mapping_is_ending(copy.host, (size_t)map->sizes[i], number, &found) &&
        !found.is_attached) {
        copy.device = found.device;
        copy.size = found.device != 0 ? (size_t)map->sizes[i] : 0;
    }
    copy.size = rex_copy_is_ours(&copy) ? copy.size : 0;
    return copy;
}

int64_t *rex_rows_copy_back(const struct rex_map *map, int number)
{
    struct rex_copy *copies;
    int64_t *types = rex_all_mappings_are_seen() ? types_and_copies(map, &copies) : NULL;
    int32_t some;
    for (int32_t i = 0; i < map->count && types != NULL; i++) {
        copies[i] = copy_back(map, i, number);
        types[i] = map->types[i];
    }
    for (int32_t i = 0; i < map->count && types != NULL; i += some) {
        bool are_made;
        some = copy_some(copies + i, map->count - i, number, &are_made);
        for (int32_t j = i; are_made && j < i + some; j++)
            types[j] &= ~REX_MAP_FROM;
    }
    return types;
}
