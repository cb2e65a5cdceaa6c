/*
 * rowcheck.c - errors in rows, whatever is mapped: each row alone, and the rows that one call maps
 * anew against each other.
 *
 * Releases of LLVM differ in how they read contradictory types.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/rowcheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- each row alone -------------------------------------------------------------------------- */

#define KNOWN_BITS                                                                     \
    (REX_MAP_TOFROM | REX_MAP_ALWAYS | REX_MAP_DELETE | REX_MAP_PTR_AND_OBJ |          \
     REX_MAP_TARGET_PARAM | REX_MAP_RETURN_PARAM | REX_MAP_PRIVATE | REX_MAP_LITERAL | \
     REX_MAP_IMPLICIT | REX_MAP_CLOSE | REX_MAP_PRESENT | REX_MAP_OMPX_HOLD |          \
     REX_MAP_MEMBER_OF_MASK)

/* Why no release does what TYPE says; NULL if TYPE is right. */
static const char *wrong_type(int64_t type, enum rex_purpose purpose)
{
    int64_t known =
        rex_row_has(type, REX_MAP_LITERAL) ? KNOWN_BITS | REX_MAP_KIND_MASK : KNOWN_BITS;
    if (rex_row_has(type, ~known))
        return "has type bits that are no map type";
    if (rex_row_has(type, REX_MAP_LITERAL) && rex_row_has(type, REX_MAP_PRIVATE))
        return "is both a literal and private";
    if (rex_row_has(type, REX_MAP_LITERAL) &&
        rex_row_has(type, REX_MAP_TOFROM | REX_MAP_DELETE | REX_MAP_ALWAYS) &&
        !rex_row_has(type, REX_MAP_PTR_AND_OBJ))
        return "is a literal and asks for a copy";
    if (rex_row_has(type, REX_MAP_PRIVATE) && rex_row_has(type, REX_MAP_FROM))
        return "is private and asks for a copy back";
    if (rex_row_has(type, REX_MAP_NOT_MAPPED) && !rex_row_has(type, REX_MAP_PTR_AND_OBJ) &&
        purpose != REX_FOR_LAUNCH && purpose != REX_FOR_QUEUE)
        return "is a kernel's argument, and this is not a launch";
    if (purpose == REX_FOR_QUEUE && rex_row_has(type, REX_MAP_PRIVATE))
        return "is private, which a queue has no memory for: pass a value, or map it";
    if (purpose == REX_FOR_QUEUE && rex_row_has(type, REX_MAP_ALWAYS))
        return "asks for a copy at every launch, which a queue does not make: use "
               "rex_queue_update()";
    if (rex_row_has(type, REX_MAP_RETURN_PARAM) &&
        (purpose == REX_FOR_LAUNCH || purpose == REX_FOR_QUEUE))
        return "asks for its device address, which only a data region gives back";
    if (rex_row_has(type, REX_MAP_DELETE) && purpose != REX_FOR_END && purpose != REX_FOR_UPDATE)
        return "deletes, which only the end of a mapping can";
    return NULL;
}

/*
 * Whether row I lies outside of the row that it is a member of. LLVM 14 to 23 map such a member
 * without a count of its own, so that it stays mapped for good. Rows behind REX_PARENT_MAX may be
 * members of a row further out; see section.c.
 */
static bool leaves_parent(const struct rex_map *map, int32_t i)
{
    int64_t type = map->types[i], parent = rex_row_parent(type);
    return parent >= 0 && i <= REX_PARENT_MAX && map->sizes[i] > 0 &&
           !rex_row_has(type, REX_MAP_NOT_MAPPED | REX_MAP_PTR_AND_OBJ) &&
           !rex_row_contains(map, (int32_t)parent, map->begin[i], map->sizes[i]);
}

static const char *wrong_member(const struct rex_map *map, int32_t i)
{
    if (rex_row_parent(map->types[i]) >= i)
        return "is a member of a row that does not come before it";
    return leaves_parent(map, i)
               ? "does not lie in the row that it is a member of: memory elsewhere needs an "
                 "attached pointer"
               : NULL;
}

static const char *wrong_row(const struct rex_map *map, int32_t i, enum rex_purpose purpose)
{
    int64_t type = map->types[i];
    const char *wrong = wrong_member(map, i);
    if (map->sizes[i] < 0)
        return "has a negative size";
    if (wrong != NULL && (purpose != REX_FOR_UPDATE || rex_row_parent(type) >= i))
        return wrong;
    if (!rex_row_has(type, REX_MAP_NOT_MAPPED) && map->begin[i] == NULL && map->sizes[i] > 0)
        return "begins at NULL";
    if (rex_row_has(type, REX_MAP_PTR_AND_OBJ) && !rex_row_has(type, REX_MAP_LITERAL) &&
        map->base[i] == NULL)
        return "is attached to a pointer at NULL";
    if (purpose == REX_FOR_UPDATE && !rex_row_has(type, REX_MAP_TOFROM) &&
        !rex_row_is_parent(map, i))
        return "is neither to nor from";
    if (purpose == REX_FOR_LAUNCH && rex_row_has(type, REX_MAP_LITERAL) &&
        !rex_row_has(type, REX_MAP_PTR_AND_OBJ) && map->sizes[i] > 8)
        return "is a value of more than 8 bytes, which only the CUDA driver can pass: map it, or "
               "use REX_FIRSTPRIVATE";
    return wrong_type(type, purpose);
}

/* Most rows have an address, a size and a direction, which is right in each call. */
static bool is_plain(const struct rex_map *map, int32_t i)
{
    return (map->types[i] & ~(REX_MAP_TOFROM | REX_MAP_TARGET_PARAM)) == 0 &&
           (map->types[i] & REX_MAP_TOFROM) != 0 && map->sizes[i] >= 0 &&
           map->sizes[i] <= REX_ROW_MOST && map->begin[i] != NULL;
}

/* The end of the argument at TEXT: a comma outside of brackets and strings, or the final 0. */
static const char *end_of_argument(const char *text)
{
    int depth = 0;
    char quote = 0;
    for (; *text != '\0' && (depth > 0 || quote != 0 || *text != ','); text++) {
        if (quote != 0 && *text == '\\' && text[1] != '\0')
            text++;
        else if (quote != 0 || strchr("\"'", *text) != NULL)
            quote = quote == 0 ? *text : *text == quote ? 0 : quote;
        else
            depth += (strchr("([{", *text) != NULL) - (strchr(")]}", *text) != NULL);
    }
    return text;
}

/* Skips the argument that a launch or a region in one line has in front of its rows. */
static const char *rows_in(const char *text)
{
    if (*text != ',')
        return text;
    text = end_of_argument(text + strspn(text, ","));
    return *text == ',' ? text + 1 : text;
}

const char *rex_row_text(const struct rex_map *map, int32_t i, char text[REX_ROW_TEXT])
{
    const char *row = NULL;
    text[0] = '\0';
    if (map != NULL && rex_map_has_text(map))
        row = rows_in(map->storage);
    for (int32_t before = 0; row != NULL && before < i; before++) {
        row = end_of_argument(row);
        row = *row == ',' ? row + 1 : NULL;
    }
    if (row != NULL)
        row += strspn(row, " ");
    /* Not for a macro of the program's own: its expansion would not help the reader. */
    if (row != NULL && strncmp(row, "REX_", 4) == 0)
        snprintf(text, REX_ROW_TEXT, "; row %d is %.*s", i, (int)(end_of_argument(row) - row), row);
    return text;
}

static int fail_row(const struct rex_map *map, int32_t i, const char *wrong, const char *what)
{
    char text[REX_ROW_TEXT];
    return rex_fail(
        REX_EINVAL, "%.*s: map row %d %s (base %p, begin %p, %lld bytes, type 0x%llx)%s",
        REX_KERNEL_NAME(what), i, wrong, map->base[i], map->begin[i], (long long)map->sizes[i],
        (unsigned long long)map->types[i], rex_row_text(map, i, text));
}

int rex_check_member(const struct rex_map *map, int32_t i, const char *what)
{
    int64_t type = map->types[i];
    bool is_right = !rex_row_has(type, REX_MAP_MEMBER_OF_MASK) || rex_row_has(type, ~KNOWN_BITS);
    const char *wrong = is_right ? NULL : wrong_member(map, i);
    return wrong == NULL ? REX_OK : fail_row(map, i, wrong, what);
}

int rex_check_size(const struct rex_map *map, int32_t i, const char *what)
{
    char text[REX_ROW_TEXT];
    return map->sizes[i] <= REX_ROW_MOST || rex_row_has(map->types[i], REX_MAP_NOT_MAPPED)
               ? REX_OK
               : rex_fail(REX_ENOMEM, "%.*s: map row %d has %lld bytes, more than a TiB%s",
                          REX_KERNEL_NAME(what), i, (long long)map->sizes[i],
                          rex_row_text(map, i, text));
}

int rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what)
{
    if (map == NULL)
        return REX_OK;
    if (map->count < 0)
        return rex_fail(REX_EINVAL, "%.*s: a map with a negative number of rows, %d",
                        REX_KERNEL_NAME(what), map->count);
    if (map->count > 0 &&
        (map->base == NULL || map->begin == NULL || map->sizes == NULL || map->types == NULL))
        return rex_fail(REX_EINVAL, "%.*s: a map of %d rows with a column that is NULL",
                        REX_KERNEL_NAME(what), map->count);
    for (int32_t i = 0; i < map->count; i++) {
        const char *wrong = is_plain(map, i) ? NULL : wrong_row(map, i, purpose);
        if (wrong != NULL)
            return fail_row(map, i, wrong, what);
        bool begins = purpose == REX_FOR_LAUNCH || purpose == REX_FOR_BEGIN;
        if (begins && rex_check_size(map, i, what) != REX_OK)
            return REX_ENOMEM;
    }
    return REX_OK;
}

int rex_fail_null_column(const char *kernel, const void *base, const void *begin, const void *sizes,
                         const void *types, int64_t count)
{
    const char *column = base == NULL    ? "base addresses"
                         : begin == NULL ? "begin addresses"
                         : sizes == NULL ? "sizes"
                         : types == NULL ? "map types"
                                         : NULL;
    return column == NULL
               ? REX_OK
               : rex_fail(REX_EINVAL, "%s%.*s%s: the column of %s is NULL, for %lld rows",
                          kernel != NULL ? "kernel \"" : "a data call",
                          REX_KERNEL_NAME(kernel != NULL ? kernel : ""), kernel != NULL ? "\"" : "",
                          column, (long long)count);
}

/* ---- rows against each other ----------------------------------------------------------------- */

/*
 * LLVM 14 to 23 map the rows of a call in their order. A row inside an earlier one is mapped with
 * it. They abort on a row that overlaps an earlier one in any other way, unless it is implicit:
 * then it counts as mapped. If it is copied, 23 and 24 copy the whole row, past the end of the
 * mapping.
 */

static bool is_before(const struct rex_new_row *a, const struct rex_new_row *b)
{
    return a->row != b->row ? a->row < b->row : a->pointer && !b->pointer;
}

static int by_number(const void *left, const void *right)
{
    return is_before(right, left) - is_before(left, right);
}

static int by_address(const void *left, const void *right)
{
    const struct rex_new_row *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static bool contains(const struct rex_new_row *outer, const struct rex_new_row *inner)
{
    return outer->begin <= inner->begin && inner->end <= outer->end;
}

static int overlap(const struct rex_new_row *row, const struct rex_new_row *other,
                   const struct rex_map *map, const char *what)
{
    char text[REX_ROW_TEXT], other_text[REX_ROW_TEXT];
    return rex_fail(REX_EOVERLAP,
                    "%.*s: map row %d, %zu bytes at %p, overlaps row %d, %zu bytes at %p, and does "
                    "not lie in it: libomptarget aborts on that, or copies past its end%s%s%s",
                    REX_KERNEL_NAME(what), row->row, (size_t)(row->end - row->begin),
                    (void *)row->begin, other->row, (size_t)(other->end - other->begin),
                    (void *)other->begin, contains(row, other) ? "; put the larger row first" : "",
                    rex_row_text(map, row->row, text), rex_row_text(map, other->row, other_text));
}

/*
 * Does as libomptarget does: finds which of COUNT rows are mapped, in their order. The others must
 * lie in one of these.
 */
static int map_in_order(struct rex_new_row *rows, size_t count, size_t *mapped,
                        const struct rex_map *map, const char *what)
{
    qsort(rows, count, sizeof *rows, by_number);
    *mapped = 0;
    for (size_t i = 0; i < count; i++) {
        const struct rex_new_row *other = NULL;
        for (size_t j = 0; j < *mapped && other == NULL; j++)
            if (rows[j].begin < rows[i].end && rows[i].begin < rows[j].end)
                other = &rows[j];
        if (other == NULL)
            rows[(*mapped)++] = rows[i];
        else if (!contains(other, &rows[i]) && !rows[i].may_exceed)
            return overlap(&rows[i], other, map, what);
    }
    return REX_OK;
}

/*
 * Checks a group of rows that overlap, directly or through other rows. They are right if the first
 * of them in the map contains them all. Only with implicit rows can they be right otherwise, so the
 * slow check is rare.
 */
static int check_together(struct rex_new_row *rows, size_t count, size_t *mapped,
                          const struct rex_map *map, const char *what)
{
    struct rex_new_row first = rows[0], together = rows[0];
    for (size_t i = 1; i < count; i++) {
        together.end = rows[i].end > together.end ? rows[i].end : together.end;
        first = is_before(&rows[i], &first) ? rows[i] : first;
    }
    if (!contains(&first, &together))
        return map_in_order(rows, count, mapped, map, what);
    rows[0] = first;
    *mapped = 1;
    return REX_OK;
}

static size_t count_together(const struct rex_new_row *rows, size_t count)
{
    uintptr_t end = rows[0].end;
    size_t together = 1;
    for (; together < count && rows[together].begin < end; together++)
        end = rows[together].end > end ? rows[together].end : end;
    return together;
}

int rex_new_rows_check(struct rex_new_row *rows, size_t *count, const struct rex_map *map,
                       const char *what)
{
    size_t kept = 0, all = *count;
    int result = REX_OK;
    if (all < 2)
        return REX_OK;
    qsort(rows, all, sizeof *rows, by_address);
    for (size_t i = 0, together, mapped = 0; i < all && result == REX_OK; i += together) {
        together = count_together(&rows[i], all - i);
        result = check_together(&rows[i], together, &mapped, map, what);
        memmove(&rows[kept], &rows[i], mapped * sizeof *rows);
        kept += mapped;
    }
    *count = kept;
    return result;
}
