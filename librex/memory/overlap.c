/*
 * overlap.c - rows that one call maps anew, against each other.
 *
 * LLVM 14 to 23 map the rows of a call in their order. A row that lies in an earlier one is mapped
 * with it; one that overlaps an earlier one in any other way makes them abort, unless it is
 * implicit: then it counts as mapped.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/overlap.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int make_room(struct rex_new_rows *all)
{
    size_t room = all->room > 0 ? 2 * all->room : 4 * REX_NEW_ON_STACK;
    struct rex_new_row *rows = realloc(all->rows, room * sizeof *rows);
    if (rows == NULL)
        return rex_fail_memory(room * sizeof *rows, "the rows of a call");
    if (all->rows == NULL)
        memcpy(rows, all->on_stack, all->count * sizeof *rows);
    all->rows = rows;
    all->room = room;
    return REX_OK;
}

int rex_new_rows_add(struct rex_new_rows *all, struct rex_new_row row)
{
    size_t room = all->rows != NULL ? all->room : REX_NEW_ON_STACK;
    int result = all->count < room ? REX_OK : make_room(all);
    if (result == REX_OK)
        rex_new_rows_all(all)[all->count++] = row;
    return result;
}

void rex_new_rows_free(struct rex_new_rows *all)
{
    free(all->rows);
}

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

void rex_new_rows_sort(struct rex_new_rows *all)
{
    qsort(rex_new_rows_all(all), all->count, sizeof(struct rex_new_row), by_address);
}

static bool contains(const struct rex_new_row *outer, const struct rex_new_row *inner)
{
    return outer->begin <= inner->begin && inner->end <= outer->end;
}

static int overlap(const struct rex_new_row *row, const struct rex_new_row *other, const char *what)
{
    return rex_fail(REX_EOVERLAP,
                    "%s: map row %d, %zu bytes at %p, overlaps row %d, %zu bytes at %p, and does "
                    "not lie in it: libomptarget aborts on that%s",
                    what, row->row, (size_t)(row->end - row->begin), (void *)row->begin, other->row,
                    (size_t)(other->end - other->begin), (void *)other->begin,
                    contains(row, other) ? "; put the larger row first" : "");
}

/*
 * As libomptarget does it: which of COUNT rows are mapped, in their order; the others have to lie
 * in one of these.
 */
static int map_in_order(struct rex_new_row *rows, size_t count, size_t *mapped, const char *what)
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
            return overlap(&rows[i], other, what);
    }
    return REX_OK;
}

/*
 * Rows that hang together, one overlapping the next, are in order if the first of them in the map
 * contains them all. It is the other way round too, but for implicit rows, so that the slow way is
 * taken for a few rows only.
 */
static int check_together(struct rex_new_row *rows, size_t count, size_t *mapped, const char *what)
{
    struct rex_new_row first = rows[0], together = rows[0];
    for (size_t i = 1; i < count; i++) {
        together.end = rows[i].end > together.end ? rows[i].end : together.end;
        first = is_before(&rows[i], &first) ? rows[i] : first;
    }
    if (!contains(&first, &together))
        return map_in_order(rows, count, mapped, what);
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

int rex_new_rows_check(struct rex_new_rows *all, const char *what)
{
    struct rex_new_row *rows = rex_new_rows_all(all);
    size_t kept = 0;
    int result = REX_OK;
    if (all->count < 2)
        return REX_OK;
    rex_new_rows_sort(all);
    for (size_t i = 0, count, mapped = 0; i < all->count && result == REX_OK; i += count) {
        count = count_together(&rows[i], all->count - i);
        result = check_together(&rows[i], count, &mapped, what);
        memmove(&rows[kept], &rows[i], mapped * sizeof *rows);
        kept += mapped;
    }
    all->count = kept;
    return result;
}
