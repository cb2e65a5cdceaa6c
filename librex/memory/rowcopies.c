/*
 * rowcopies.c - rows of data calls, large ones of which are copied by threads.
 *
 * libomptarget maps all rows, and copies them with one call of the driver each, which reads
 * ordinary memory with one thread. Threads do that here where libomptarget would do nothing else:
 * where librex sees all calls, and no pointer is attached in what is copied. The end of a region
 * stays libomptarget's, which alone knows whether it is the last one.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/rowcopies.h"

#include <stdlib.h>

#include "memory/claims.h"
#include "memory/presence.h"
#include "memory/staging.h"
#include "omp/calls.h"
#include "omp/sender.h"
#include "trace/trace.h"

#define PLAIN_BITS                                                                                 \
    (REX_TYPE_TOFROM | REX_TYPE_ALWAYS | REX_TYPE_PARAMETER | REX_TYPE_IMPLICIT | REX_TYPE_CLOSE | \
     REX_TYPE_PRESENT | REX_TYPE_HOLD)

static bool is_large(const struct rex_map *map, int32_t i)
{
    return map->sizes[i] >= (int64_t)REX_STAGED_LEAST && (map->types[i] & REX_TYPE_TOFROM);
}

static bool may_copy(const struct rex_map *map)
{
    bool some = false, plain = true;
    for (int32_t i = 0; i < map->count; i++) {
        some |= is_large(map, i);
        plain &=
            !(map->types[i] & ~PLAIN_BITS) && (map->mappers == NULL || map->mappers[i] == NULL);
    }
    return some && plain && !rex_pointers_are_attached() &&
           rex_sender_for(rex_against_all()) == REX_SENDER_DRIVER;
}

/* False: libomptarget has to do it. */
static bool copy_row(const struct rex_map *map, int32_t i, bool to_host, int number)
{
    void *device = NULL;
    size_t size = (size_t)map->sizes[i];
    uint64_t begin = rex_phase_begin();
    if (rex_memory_find(map->begin[i], size, number, &device) != REX_PRESENT_WHOLE)
        return false;
    struct rex_staged_copy copy = {
        .host = map->begin[i], .device = (uintptr_t)device, .size = size, .to_host = to_host};
    if (!rex_staging_copy(&copy, NULL))
        return false;
    if (begin != 0)
        rex_copy_took(begin, size, to_host, number);
    return true;
}

static int update_some(const char *what, int64_t device, const struct rex_map *map, int32_t first,
                       int32_t count)
{
    struct rex_map some = {.count = count,
                           .base = map->base + first,
                           .begin = map->begin + first,
                           .sizes = map->sizes + first,
                           .types = map->types + first};
    return count > 0 ? rex_call_data(REX_DATA_UPDATE, what, device, &some) : REX_OK;
}

int rex_rows_update(const char *what, int64_t device, int number, const struct rex_map *map)
{
    int32_t done = 0;
    int result = REX_OK;
    if (!may_copy(map))
        return rex_call_data(REX_DATA_UPDATE, what, device, map);
    for (int32_t i = 0; i < map->count && result == REX_OK; i++) {
        int64_t direction = map->types[i] & REX_TYPE_TOFROM;
        if (!is_large(map, i) || direction == REX_TYPE_TOFROM)
            continue;
        result = update_some(what, device, map, done, i - done);
        done = result == REX_OK && copy_row(map, i, direction == REX_TYPE_FROM, number) ? i + 1 : i;
    }
    return result == REX_OK ? update_some(what, device, map, done, map->count - done) : result;
}

/* ---- the beginning of a region --------------------------------------------------------------- */

static bool is_made(struct rex_new_rows *made, int32_t i)
{
    const struct rex_new_row *row = rex_new_rows_all(made);
    bool found = false;
    for (size_t j = 0; j < made->count; j++)
        found |= row[j].row == i && !row[j].pointer;
    return found;
}

/* Another thread may have mapped it since MADE was found; none does from now on. */
static bool is_copied_here(const struct rex_map *map, int32_t i, int number,
                           struct rex_new_rows *made)
{
    return is_large(map, i) && (map->types[i] & REX_TYPE_TO) && is_made(made, i) &&
           rex_staging_suits(map->begin[i], (size_t)map->sizes[i]) &&
           rex_presence_after_load(map->begin[i], (size_t)map->sizes[i], number) == REX_ABSENT;
}

static int copy_made(const char *what, int64_t device, int number, const struct rex_map *map,
                     int32_t i)
{
    int64_t to = REX_TYPE_TO;
    struct rex_map row = {.count = 1,
                          .base = &map->base[i],
                          .begin = &map->begin[i],
                          .sizes = &map->sizes[i],
                          .types = &to};
    return copy_row(map, i, false, number) ? REX_OK
                                           : rex_call_data(REX_DATA_UPDATE, what, device, &row);
}

int rex_rows_begin(const char *what, int64_t device, int number, const struct rex_map *map,
                   struct rex_new_rows *made)
{
    int64_t *types = may_copy(map) ? malloc((size_t)map->count * sizeof *types) : NULL;
    struct rex_map begun = *map;
    if (types == NULL)
        return rex_call_data(REX_DATA_BEGIN, what, device, map);
    begun.types = types;
    for (int32_t i = 0; i < map->count; i++)
        types[i] =
            map->types[i] & ~(is_copied_here(map, i, number, made) ? REX_TYPE_TO : INT64_C(0));
    int result = rex_call_data(REX_DATA_BEGIN, what, device, &begun);
    for (int32_t i = 0; i < map->count && result == REX_OK; i++)
        if (types[i] != map->types[i])
            result = copy_made(what, device, number, map, i);
    free(types);
    return result;
}
