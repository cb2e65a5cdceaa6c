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

/* Returns the number of the parent of a row of TYPE, or -1 if the row is not a member. */
static inline int64_t rex_row_parent(int64_t type)
{
    return (int64_t)((uint64_t)type >> 48) - 1;
}

/* Returns true if row I is the parent of the next row. A parent row itself is not copied. */
static inline bool rex_row_is_parent(const struct rex_map *map, int32_t i)
{
    return i + 1 < map->count && rex_row_parent(map->types[i + 1]) == i;
}

/* Returns true if row ROW maps SIZE bytes at ADDRESS. */
static inline bool rex_row_contains(const struct rex_map *map, int32_t row, const void *address,
                                    int64_t size)
{
    uint64_t into = (uintptr_t)address - (uintptr_t)map->begin[row],
             all = (uint64_t)map->sizes[row];
    return !rex_row_has(map->types[row], REX_MAP_NOT_MAPPED) && into <= all &&
           (uint64_t)size <= all - into;
}

/* Returns a map of COUNT rows of MAP, from row FIRST on. */
static inline struct rex_map rex_rows_from(const struct rex_map *map, int32_t first, int32_t count)
{
    return (struct rex_map){.count = count,
                            .base = map->base + first,
                            .begin = map->begin + first,
                            .sizes = map->sizes + first,
                            .types = map->types + first,
                            .mappers = map->mappers != NULL ? map->mappers + first : NULL};
}

/*
 * Returns true if `storage` of MAP points to the text of the rows, and not to an allocation.
 * rex_map_of() stores an odd address inside the text. No allocation has an odd address.
 */
static inline bool rex_map_has_text(const struct rex_map *map)
{
    return ((uintptr_t)map->storage & 1) != 0;
}

/*
 * Writes the source text of row I of MAP to TEXT, as the end of a message: "; row 1 is REX_TO(x,
 * n)". Writes "" if MAP was made by other means than REX_MAP() or a similar macro. Returns TEXT.
 */
#define REX_ROW_TEXT 120
const char *rex_row_text(const struct rex_map *map, int32_t i, char text[REX_ROW_TEXT]);

/*
 * Checks row I of a raw call (the program passed a packet or arrays). If the row is a member, it
 * must lie in its parent. libomptarget would crash on a member outside its parent, or never end the
 * member's mapping. A row with unknown bits is not checked. Returns 0 or REX_EINVAL, with a message
 * that begins with WHAT.
 */
int rex_check_member(const struct rex_map *map, int32_t i, const char *what);

/*
 * Maximum bytes of a row: a larger size is an error of the program. The sum of 2^22 such sizes fits
 * into an int64_t.
 */
#define REX_ROW_MOST ((int64_t)1 << 40)

/*
 * If the call maps row I, checks that the row has at most REX_ROW_MOST bytes. libomptarget aborts
 * if the device has too little memory. Returns 0 or REX_ENOMEM, with a message that begins with
 * WHAT.
 */
int rex_check_size(const struct rex_map *map, int32_t i, const char *what);

/*
 * Checks the columns and the types of MAP. If PURPOSE maps memory, also checks the sizes of the
 * rows. Returns 0, REX_EINVAL or REX_ENOMEM, with a message that begins with WHAT.
 */
int rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what);

/*
 * Returns REX_EINVAL if a column of MAP is NULL, otherwise 0. MAP must have at least one row. The
 * message names the column and the call. The call is a launch of KERNEL, or the data call CALL if
 * KERNEL is NULL.
 */
int rex_fail_null_column(const char *kernel, const char *call, const struct rex_map *map);

/* ---- rows against each other ----------------------------------------------------------------- */

/*
 * A range of memory of row `row`. If `pointer` is true, the range is the attached pointer, which
 * libomptarget maps before the memory of the row. If `pointer` is false, the range is the memory of
 * the row.
 */
struct rex_row_span {
    uintptr_t begin, end;
    int32_t row;
    bool pointer;
    /* the row is implicit, and is treated as mapped even if its mapping is smaller */
    bool may_exceed;
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
 * Compares spans by address, for qsort(). A span comes before the spans that it contains, and
 * before equal spans of later rows.
 */
int rex_spans_compare(const void *left, const void *right);

/*
 * Checks the *COUNT elements of SPANS: ranges that are not mapped yet, and that one call will map.
 * Returns REX_EOVERLAP if libomptarget would abort, or copy past the end of a mapping. Otherwise
 * returns 0. The message begins with WHAT. Removes each span that lies in the mapping of another
 * span, and updates *COUNT. Each remaining span gets its own mapping. Example: row 0 is a[0:10],
 * and row 1 is a[2:3]. Only the span of row 0 remains, because row 1 lies in the mapping of row 0.
 */
int rex_new_spans_check(struct rex_row_span *spans, size_t *count, const struct rex_map *map,
                        const char *what);

#endif
