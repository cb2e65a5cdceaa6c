/*
 * rowcheck.h - errors in rows, found before libomptarget reads them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ROWCHECK_H
#define REX_INTERNAL_ROWCHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp/columns.h"
#include "rex/map.h"

/* ---- each row alone -------------------------------------------------------------------------- */

enum rex_purpose { REX_FOR_LAUNCH, REX_FOR_QUEUE, REX_FOR_BEGIN, REX_FOR_END, REX_FOR_UPDATE };

static inline bool rex_purpose_begins(enum rex_purpose purpose)
{
    return purpose == REX_FOR_LAUNCH || purpose == REX_FOR_BEGIN;
}

/* The row that a row of TYPE is a member of, or -1. */
static inline int64_t rex_row_parent(int64_t type)
{
    return (int64_t)((uint64_t)type >> 48) - 1;
}

/* Whether row I spans the members that follow; such a row copies nothing itself. */
static inline bool rex_row_is_parent(const struct rex_map *map, int32_t i)
{
    return i + 1 < map->count && rex_row_parent(map->types[i + 1]) == i;
}

/* Whether row ROW maps SIZE bytes at ADDRESS. */
static inline bool rex_row_contains(const struct rex_map *map, int32_t row, const void *address,
                                    int64_t size)
{
    uint64_t into = (uintptr_t)address - (uintptr_t)map->begin[row],
             all = (uint64_t)map->sizes[row];
    return !rex_row_has(map->types[row], REX_MAP_NOT_MAPPED) && into <= all &&
           (uint64_t)size <= all - into;
}

/* COUNT rows of MAP from row FIRST on, as a map. */
static inline struct rex_map rex_rows_from(const struct rex_map *map, int32_t first, int32_t count)
{
    return (struct rex_map){.count = count,
                            .base = map->base + first,
                            .begin = map->begin + first,
                            .sizes = map->sizes + first,
                            .types = map->types + first,
                            .mappers = map->mappers != NULL ? map->mappers + first : NULL};
}

/* Whether `storage` of MAP is the text of its rows (rex_map_of()), and not an allocation. */
static inline bool rex_map_has_text(const struct rex_map *map)
{
    return ((uintptr_t)map->storage & 1) != 0;
}

/*
 * The text of row I of MAP in the program, if REX_MAP() or a similar macro knows it, for the end of
 * a message: "; row 1 is REX_TO(x, n)". Otherwise "". Returns TEXT.
 */
#define REX_ROW_TEXT 120
const char *rex_row_text(const struct rex_map *map, int32_t i, char text[REX_ROW_TEXT]);

/*
 * Check that row I of a raw call, if it is a member, lies in its parent; otherwise libomptarget
 * crashes. Returns 0 or REX_EINVAL; WHAT begins the message. Rows with unknown bits pass.
 */
int rex_check_member(const struct rex_map *map, int32_t i, const char *what);

/*
 * Most bytes of a row: more is a size that went wrong. The sum for as many rows as a map can have
 * does not overflow.
 */
#define REX_ROW_MOST ((int64_t)1 << 40)

/*
 * Check the size of row I, if it is mapped: libomptarget aborts if the device has no such memory.
 * Returns 0 or REX_ENOMEM; WHAT begins the message.
 */
int rex_check_size(const struct rex_map *map, int32_t i, const char *what);

/*
 * Check shape and types of MAP, and sizes that PURPOSE maps; WHAT begins the message. 0, REX_EINVAL
 * or REX_ENOMEM.
 */
int rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what);

/*
 * Fail with REX_EINVAL and name the column of MAP, which has rows, that is NULL. The call is a
 * launch of KERNEL; NULL: a data call. Returns 0 if no column is NULL.
 */
int rex_fail_null_column(const char *kernel, const struct rex_map *map);

/* ---- rows against each other ----------------------------------------------------------------- */

/*
 * Memory that row ROW of a call has: its own, or, if `pointer`, the pointer that the row maps
 * first.
 */
struct rex_row_span {
    uintptr_t begin, end;
    int32_t row;
    bool pointer;
    bool may_exceed; /* the row may exceed its mapping, and counts as mapped then */
};

static inline size_t rex_span_size(const struct rex_row_span *span)
{
    return (size_t)(span->end - span->begin);
}

static inline bool rex_spans_overlap(const struct rex_row_span *a, const struct rex_row_span *b)
{
    return a->begin < b->end && b->begin < a->end;
}

static inline bool rex_span_contains(const struct rex_row_span *outer,
                                     const struct rex_row_span *inner)
{
    return outer->begin <= inner->begin && inner->end <= outer->end;
}

/*
 * For qsort(): by address. A span comes before those that it contains, and before equal ones that
 * follow it in the map.
 */
int rex_spans_compare(const void *left, const void *right);

/*
 * Check the *COUNT SPANS that one call will map, because they are not mapped yet. Returns 0, or
 * REX_EOVERLAP if libomptarget would abort; WHAT begins the message. Afterwards only the *COUNT
 * spans that get a mapping of their own are left, and not those inside them.
 */
int rex_new_spans_check(struct rex_row_span *spans, size_t *count, const struct rex_map *map,
                        const char *what);

#endif
