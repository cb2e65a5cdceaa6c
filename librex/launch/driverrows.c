/*
 * driverrows.c - the rows of a launch by the driver. A mapped row stays where it is. Any other row
 * gets device memory for the time of the launch. In that memory rows that are only copied in come
 * first, then rows that are copied both ways, then rows that are only copied back. So one copy for
 * each direction is enough.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/driverrows.h"

#include <stdlib.h>

#include "memory/presence.h"
#include "omp/presentcalls.h"

#define VALUE_BITS (REX_MAP_LITERAL | REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT | REX_MAP_KIND_MASK)
#define PRIVATE_BITS (REX_MAP_PRIVATE | REX_MAP_TO | REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT)
#define MAPPED_BITS                                                                              \
    (REX_MAP_TOFROM | REX_MAP_ALWAYS | REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT | REX_MAP_CLOSE | \
     REX_MAP_PRESENT | REX_MAP_OMPX_HOLD)

/* Most bytes of a row: the sum for as many rows as a map can have does not overflow. */
#define LARGEST (INT64_C(1) << 40)

/* ---- fallback reasons of rows ---------------------------------------------------------------- */

static unsigned against_row(const struct rex_map *map, int32_t i)
{
    int64_t type = map->types[i];
    int64_t known = type & REX_MAP_LITERAL   ? VALUE_BITS
                    : type & REX_MAP_PRIVATE ? PRIVATE_BITS
                                             : MAPPED_BITS;
    uintptr_t begin = (uintptr_t)map->begin[i];
    if (map->mappers != NULL && map->mappers[i] != NULL)
        return REX_AGAINST_MAPPER;
    if (type & ~known)
        return REX_AGAINST_TYPE;
    if (map->sizes[i] < 0 || ((type & REX_MAP_PRIVATE) && map->sizes[i] == 0) ||
        (!(type & REX_MAP_LITERAL) && map->sizes[i] > LARGEST))
        return REX_AGAINST_ROWS;
    return !(type & REX_MAP_LITERAL) && map->sizes[i] > 0 &&
                   (begin == 0 || begin > UINTPTR_MAX - (uintptr_t)map->sizes[i])
               ? REX_AGAINST_ROWS
               : 0u;
}

unsigned rex_against_rows(const struct rex_map *map)
{
    unsigned against = 0;
    if (map->count < 0 || (map->count > 0 && (map->base == NULL || map->begin == NULL ||
                                              map->sizes == NULL || map->types == NULL)))
        return REX_AGAINST_ROWS;
    for (int32_t i = 0; i < map->count; i++)
        against |= against_row(map, i);
    return against;
}

/* ---- rows that are the launch's own ---------------------------------------------------------- */

static void add_own(struct rex_driver_rows *rows, int32_t row)
{
    const struct rex_map *map = rows->map;
    uintptr_t begin = (uintptr_t)map->begin[row];
    rows->own[rows->own_count] = (struct rex_own_row){.begin = begin,
                                                      .end = begin + (uintptr_t)map->sizes[row],
                                                      .type = map->types[row],
                                                      .row = row,
                                                      .outer = (uint32_t)rows->own_count};
    rows->own_count++;
}

static void claim(struct rex_driver_rows *rows)
{
    const struct rex_map *map = rows->map;
    struct rex_claim *claim = &rows->claim;
    for (int32_t i = 0; i < map->count; i++) {
        if (rex_row_has(map->types[i], REX_MAP_NOT_MAPPED))
            continue;
        uintptr_t begin = (uintptr_t)map->begin[i], size = (uintptr_t)map->sizes[i];
        claim->place[claim->count++] =
            (struct rex_place){.begin = begin,
                               .end = begin + (size > 0 ? size : 1),
                               .is_changed = size > 0 && rex_row_has(map->types[i], REX_MAP_FROM),
                               .row = i};
    }
    if (claim->count > 0)
        rex_present_pin(claim);
}

/* Whether libomptarget has no mapping of the row, either; the index has none. */
static bool is_absent(const struct rex_driver_rows *rows, int32_t row)
{
    const struct rex_map *map = rows->map;
    return rex_all_mappings_are_seen() ||
           rex_presence_after_load(map->begin[row], (size_t)map->sizes[row], rows->claim.number) ==
               REX_ABSENT;
}

/* For a section of size 0 LLVM 16 and later pass the host's address. */
static unsigned find_mapped(struct rex_driver_rows *rows, int32_t row)
{
    const struct rex_map *map = rows->map;
    void *begin = map->begin[row], *device = rex_memory_address(begin, rows->claim.number);
    rows->device[row] = (uintptr_t)(device != NULL ? device : begin);
    return device == NULL && map->sizes[row] > 0 ? REX_AGAINST_UNSEEN : 0u;
}

static unsigned place_row(struct rex_driver_rows *rows, size_t i)
{
    const struct rex_place *place = &rows->claim.place[i];
    int32_t row = place->row;
    int64_t type = rows->map->types[row], size = rows->map->sizes[row];
    if (rows->is_mapped)
        return find_mapped(rows, row);
    if (place->device != 0) {
        bool updated = (type & REX_MAP_ALWAYS) && (type & REX_MAP_TOFROM) && size > 0;
        rows->device[row] = place->device;
        rows->has_updates |= updated;
        return updated && rex_pointers_are_attached() ? REX_AGAINST_UNSEEN : 0u;
    }
    if (place->is_mapped || size == 0 || (type & REX_MAP_PRESENT) || !is_absent(rows, row))
        return REX_AGAINST_UNSEEN;
    add_own(rows, row);
    return 0;
}

/* ---- rows inside rows ------------------------------------------------------------------------ */

/* By address; if two begin together, the earlier one in the map comes first. */
static int by_address(const void *left, const void *right)
{
    const struct rex_own_row *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static bool is_in_order(const struct rex_own_row *own, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (own[i].begin < own[i - 1].end)
            return false;
    return true;
}

/*
 * Whether INNER shares OUTER's memory. libomptarget maps a row together with an earlier one that
 * contains it, and then copies as the earlier one says. Rows that overlap in any other way, or
 * differ in their copies, are left to libomptarget.
 */
static bool lies_in(const struct rex_own_row *inner, const struct rex_own_row *outer)
{
    return inner->end <= outer->end && inner->row > outer->row &&
           ((inner->type ^ outer->type) & REX_MAP_TOFROM) == 0;
}

static unsigned unite(struct rex_driver_rows *rows)
{
    struct rex_own_row *own = rows->own;
    uint32_t outer = 0;
    if (is_in_order(own, rows->own_count))
        return 0;
    qsort(own, rows->own_count, sizeof *own, by_address);
    for (uint32_t i = 0; i < rows->own_count; i++) {
        bool apart = i == 0 || own[i].begin >= own[outer].end;
        if (!apart && !lies_in(&own[i], &own[outer]))
            return REX_AGAINST_OVERLAP;
        outer = apart ? i : outer;
        own[i].outer = outer;
    }
    return 0;
}

/* ---- offsets --------------------------------------------------------------------------------- */

#define LARGEST_ALIGNMENT 512 /* of cuMemAlloc's memory */
#define LEAST_ALIGNMENT 16

/* The alignment that any object of SIZE bytes may need. */
static size_t alignment(size_t size)
{
    size_t align = LEAST_ALIGNMENT;
    while (align < size && align < LARGEST_ALIGNMENT)
        align *= 2;
    return align;
}

static size_t append(struct rex_driver_rows *rows, int64_t directions, size_t at)
{
    for (size_t i = 0; i < rows->own_count; i++) {
        struct rex_own_row *own = &rows->own[i];
        size_t size = own->end - own->begin, align = alignment(size);
        if (own->outer != i || (own->type & REX_MAP_TOFROM) != directions)
            continue;
        own->offset = (at + align - 1) / align * align;
        at = own->offset + size;
    }
    return at;
}

static void arrange(struct rex_driver_rows *rows)
{
    rows->out_begin = append(rows, REX_MAP_TO, 0);
    rows->in = append(rows, REX_MAP_TOFROM, rows->out_begin);
    rows->out_end = append(rows, REX_MAP_FROM, rows->in);
    rows->total = append(rows, 0, rows->out_end);
}

/* ---- all rows -------------------------------------------------------------------------------- */

static unsigned place_all(struct rex_driver_rows *rows)
{
    const struct rex_map *map = rows->map;
    unsigned against = 0;
    for (size_t i = 0; i < rows->claim.count; i++)
        against |= place_row(rows, i);
    against |= unite(rows);
    for (int32_t i = 0; i < map->count && against == 0; i++)
        if (map->types[i] & REX_MAP_PRIVATE)
            add_own(rows, i);
    arrange(rows);
    return against;
}

int rex_driver_rows_begin(struct rex_driver_rows *rows, struct rex_slot *slot,
                          const struct rex_map *map, int number, bool is_mapped, unsigned *against)
{
    size_t count = (size_t)map->count;
    *rows =
        (struct rex_driver_rows){.map = map, .claim = {.number = number}, .is_mapped = is_mapped};
    *against = 0;
    if (count == 0)
        return REX_OK;
    char *memory = rex_slot_rows(
        slot, count * (sizeof *rows->own + sizeof *rows->claim.place + sizeof *rows->device));
    if (memory == NULL)
        return REX_ENOMEM;
    rows->own = (void *)memory;
    rows->claim.place = (void *)(rows->own + count);
    rows->device = (void *)(rows->claim.place + count);
    claim(rows);
    *against = place_all(rows);
    if (*against != 0)
        rex_driver_rows_end(rows);
    return REX_OK;
}

void rex_driver_rows_end(struct rex_driver_rows *rows)
{
    if (rows->claim.count > 0)
        rex_present_unpin(&rows->claim);
}

void rex_driver_rows_settle(struct rex_driver_rows *rows)
{
    for (size_t i = 0; i < rows->own_count; i++) {
        const struct rex_own_row *own = &rows->own[i], *outer = &rows->own[own->outer];
        rows->device[own->row] = (uintptr_t)outer->device + (own->begin - outer->begin);
    }
}
