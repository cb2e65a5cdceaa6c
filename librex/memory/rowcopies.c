/*
 * rowcopies.c - rows of data calls that librex copies itself.
 *
 * libomptarget maps all rows, and copies each with a call of the driver that waits. librex may copy
 * instead if it sees all calls and no pointer is attached in the memory. Then threads copy large
 * rows, and the small rows of an update are copied together. At the end of a region a row is copied
 * back so only if that certainly ends its mapping; else libomptarget counts and copies.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/rowcopies.h"

#include <stdlib.h>

#include "memory/copies.h"
#include "memory/presence.h"
#include "omp/backend.h"
#include "omp/callreport.h"
#include "omp/calls.h"
#include "omp/presentcalls.h"
#include "trace/trace.h"

#define PLAIN_BITS                                                                               \
    (REX_MAP_TOFROM | REX_MAP_ALWAYS | REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT | REX_MAP_CLOSE | \
     REX_MAP_PRESENT | REX_MAP_OMPX_HOLD)

/* Whether librex may copy rows of MAP itself. */
static bool may_copy(const struct rex_map *map)
{
    bool plain = true;
    for (int32_t i = 0; i < map->count; i++)
        plain &=
            !(map->types[i] & ~PLAIN_BITS) && (map->mappers == NULL || map->mappers[i] == NULL);
    return plain && !rex_pointers_are_attached() && rex_process_reasons() == 0;
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
    return (struct rex_copy){.host = map->begin[i],
                             .device = found.device + ((uintptr_t)map->begin[i] - found.begin),
                             .size = size,
                             .to_host = direction == REX_MAP_FROM};
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

int rex_rows_update(const char *what, int64_t device, int number, const struct rex_map *map)
{
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

static bool has_large(const struct rex_map *map)
{
    bool some = false;
    for (int32_t i = 0; i < map->count; i++)
        some |= map->sizes[i] >= (int64_t)REX_COPY_LARGE;
    return some;
}

/*
 * Whether row I makes a mapping of its own, and no launch by libomptarget may use that meanwhile.
 * libomptarget is asked, because the table may lack a mapping.
 */
static bool is_new(const struct rex_map *map, int32_t i, int number)
{
    size_t size = (size_t)map->sizes[i];
    return size >= REX_COPY_LARGE && rex_mapping_is_new(map->begin[i], size, number) &&
           rex_presence_after_load(map->begin[i], size, number) == REX_ABSENT;
}

static bool is_copied_here(const struct rex_map *map, int32_t i)
{
    return (map->types[i] & REX_MAP_TO) &&
           rex_copy_suits_threads(map->begin[i], (size_t)map->sizes[i]);
}

static bool copy_by_threads(const struct rex_map *map, int32_t i, int number, uintptr_t device,
                            bool to_host)
{
    uint64_t begin = rex_phase_begin();
    struct rex_copy copy = {
        .host = map->begin[i], .device = device, .size = (size_t)map->sizes[i], .to_host = to_host};
    if (!rex_copy_by_threads(&copy, NULL))
        return false;
    rex_copy_took(begin, to_host ? REX_COPIED_FROM : REX_COPIED_TO, copy.size, number);
    return true;
}

static int copy_made(const char *what, int64_t device, int number, const struct rex_map *map,
                     int32_t i)
{
    int64_t to = REX_MAP_TO;
    void *there = NULL;
    struct rex_map row = rex_rows_from(map, i, 1);
    row.types = &to;
    rex_memory_find(map->begin[i], (size_t)map->sizes[i], number, &there);
    return copy_by_threads(map, i, number, (uintptr_t)there, false)
               ? REX_OK
               : rex_call_data(REX_DATA_UPDATE, what, device, &row);
}

/* Makes the copies of rows that libomptarget has just mapped, and whose type in TYPES differs. */
static int copy_all_made(const char *what, int64_t device, int number, const struct rex_map *map,
                         const int64_t *types)
{
    int result = REX_OK;
    for (int32_t i = 0; i < map->count && result == REX_OK; i++)
        if (types[i] != map->types[i])
            result = copy_made(what, device, number, map, i);
    return result;
}

int rex_rows_begin(const char *what, int64_t device, int number, const struct rex_map *map)
{
    int64_t *types =
        has_large(map) && may_copy(map) ? malloc((size_t)map->count * sizeof *types) : NULL;
    if (types == NULL)
        return rex_call_data(REX_DATA_BEGIN, what, device, map);
    struct rex_map begun = *map;
    begun.types = types;
    for (int32_t i = 0; i < map->count; i++) {
        bool is_copied = is_new(map, i, number) && is_copied_here(map, i);
        types[i] = map->types[i] & ~(is_copied ? REX_MAP_TO : INT64_C(0));
    }
    int result = rex_call_data(REX_DATA_BEGIN, what, device, &begun);
    if (result == REX_OK)
        result = copy_all_made(what, device, number, map, types);
    free(types);
    return result;
}

/* ---- the end of a region --------------------------------------------------------------------- */

static bool copy_back(const struct rex_map *map, int32_t i, int number)
{
    struct rex_mapping found;
    return (map->types[i] & REX_MAP_FROM) && !(map->types[i] & REX_MAP_OMPX_HOLD) &&
           rex_mapping_is_ending(map->begin[i], (size_t)map->sizes[i], number, &found) &&
           found.device != 0 && !found.is_attached &&
           copy_by_threads(map, i, number, found.device, true);
}

int64_t *rex_rows_copy_back(const struct rex_map *map, int number)
{
    bool may = has_large(map) && may_copy(map) && rex_all_mappings_are_seen();
    int64_t *types = may ? malloc((size_t)map->count * sizeof *types) : NULL;
    for (int32_t i = 0; i < map->count && types != NULL; i++)
        types[i] = map->types[i] & ~(copy_back(map, i, number) ? REX_MAP_FROM : INT64_C(0));
    return types;
}
