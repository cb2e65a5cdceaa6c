/*
 * unite.c - rows of one call with the same memory: their copies are united.
 *
 * A program may name one array twice in a call, as an input and as an output. LLVM 14 to 22 map the
 * rows together, and copy as the first one says: the output would be lost in silence. So each such
 * row asks for the copies of all. Memory that was mapped before is not copied more than without
 * that: a row that is not ALWAYS copies nothing then.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/unite.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "memory/presence.h"
#include "omp/device.h"

/* The memory of row ROW. */
struct span {
    uintptr_t begin, end;
    int32_t row;
};

/* ---- rows that are compared ------------------------------------------------------------------ */

/*
 * Whether row I maps its memory alone. A parent copies nothing itself, members belong to it, and an
 * attached pointer or a mapper maps more than the row.
 */
static bool is_alone(const struct rex_map *map, int32_t i)
{
    return map->sizes[i] > 0 &&
           !rex_row_has(map->types[i],
                        REX_MAP_NOT_MAPPED | REX_MAP_MEMBER_OF_MASK | REX_MAP_PTR_AND_OBJ) &&
           (map->mappers == NULL || map->mappers[i] == NULL) && !rex_row_is_parent(map, i);
}

/* Writes the rows to compare to SPANS. Returns their number; 0 if all ask for the same copies. */
static size_t collect(const struct rex_map *map, struct span *spans)
{
    int64_t first = 0, differences = 0;
    size_t count = 0;
    for (int32_t i = 0; i < map->count; i++) {
        if (!is_alone(map, i))
            continue;
        first = count == 0 ? map->types[i] : first;
        differences |= first ^ map->types[i];
        spans[count++] = (struct span){(uintptr_t)map->begin[i],
                                       rex_end_of(map->begin[i], (size_t)map->sizes[i]), i};
    }
    return rex_row_has(differences, REX_MAP_TOFROM) ? count : 0;
}

/* A row comes before rows that it contains, and before equal ones that follow it in the map. */
static int by_address(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

#define FEW 16 /* rows that are compared faster than sorted */

static bool some_overlap(const struct span *spans, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (spans[j].begin < spans[i].end && spans[i].begin < spans[j].end)
                return true;
    return false;
}

static bool are_in_order(const struct span *spans, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (spans[i - 1].end > spans[i].begin)
            return false;
    return true;
}

/* Sorts SPANS if some overlap. Returns false if none do. */
static bool sort(struct span *spans, size_t count)
{
    if (count <= FEW ? !some_overlap(spans, count) : are_in_order(spans, count))
        return false;
    qsort(spans, count, sizeof *spans, by_address);
    return !are_in_order(spans, count);
}

/* ---- equal rows ------------------------------------------------------------------------------ */

/* The copies that a call makes; libomptarget ignores the others. */
static int64_t copies_of(enum rex_purpose purpose)
{
    return purpose == REX_FOR_BEGIN ? REX_MAP_TO
           : purpose == REX_FOR_END ? REX_MAP_FROM
                                    : REX_MAP_TOFROM;
}

/*
 * Unites COUNT equal rows in TYPES, of a call that makes COPIES. ALWAYS stays with the directions
 * that it was given for. If a launch has it for one direction of two, the first row makes both
 * copies of new memory, and the others make the one of mapped memory.
 */
static void unite(const struct span *equal, size_t count, int64_t copies, int64_t *types)
{
    int64_t all = 0, always = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t type = types[equal[i].row];
        all |= type & REX_MAP_TOFROM;
        always |= rex_row_has(type, REX_MAP_ALWAYS) ? type & copies : 0;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t *type = &types[equal[i].row], own = all;
        if (always != 0 && (i > 0 || always == (all & copies)))
            own = REX_MAP_ALWAYS | always | (all & ~copies);
        *type = (*type & ~(REX_MAP_TOFROM | REX_MAP_ALWAYS)) | own;
    }
}

/* ---- parts ----------------------------------------------------------------------------------- */

static int fail_part(const struct rex_map *map, const struct span *part, const struct span *whole,
                     const char *what)
{
    char text[REX_ROW_TEXT], whole_text[REX_ROW_TEXT];
    int64_t lost = map->types[part->row] & ~map->types[whole->row];
    return rex_fail(REX_EOVERLAP,
                    "%s: map row %d, %zu bytes at %p, is copied %s the device, and row %d, in "
                    "which it lies, %zu bytes at %p, is not: libomptarget copies as row %d "
                    "says%s%s",
                    what, part->row, (size_t)(part->end - part->begin), (void *)part->begin,
                    rex_row_has(lost, REX_MAP_TO) ? "to" : "from", whole->row,
                    (size_t)(whole->end - whole->begin), (void *)whole->begin, whole->row,
                    rex_row_text(map, part->row, text), rex_row_text(map, whole->row, whole_text));
}

/*
 * Whether libomptarget maps WHOLE for the call, and then makes fewer copies than PART asks for. A
 * part with ALWAYS is copied by itself, and one with PRESENT is mapped before.
 */
static bool loses(const struct rex_map *map, const struct span *part, const struct span *whole,
                  int64_t device)
{
    int number;
    int64_t type = map->types[part->row];
    const void *begin = (const void *)whole->begin;
    size_t size = whole->end - whole->begin;
    return part->end <= whole->end && part->row > whole->row &&
           !rex_row_has(type, REX_MAP_ALWAYS | REX_MAP_PRESENT) &&
           rex_row_has(type & ~map->types[whole->row], REX_MAP_TOFROM) &&
           rex_device_offload(device, &number) == REX_OK &&
           rex_memory_presence(begin, size, number) == REX_ABSENT &&
           rex_is_absent(begin, size, number);
}

/* ---- all rows -------------------------------------------------------------------------------- */

static size_t count_equal(const struct span *spans, size_t count)
{
    size_t equal = 1;
    while (equal < count && spans[equal].begin == spans[0].begin &&
           spans[equal].end == spans[0].end)
        equal++;
    return equal;
}

/* Unites equal rows in TYPES, the types of MAP, and checks the parts of each row. */
static int unite_all(const struct span *spans, size_t count, const struct rex_map *map,
                     int64_t *types, enum rex_purpose purpose, int64_t device, const char *what)
{
    for (size_t i = 0, next; i < count; i = next) {
        size_t equal = count_equal(&spans[i], count - i);
        if (equal > 1)
            unite(&spans[i], equal, copies_of(purpose), types);
        for (next = i + equal; next < count && spans[next].begin < spans[i].end; next++)
            if (purpose != REX_FOR_END && loses(map, &spans[next], &spans[i], device))
                return fail_part(map, &spans[next], &spans[i], what);
    }
    return REX_OK;
}

#define SPANS_ON_STACK 32

int rex_rows_unite(struct rex_map *map, enum rex_purpose purpose, int64_t device, const char *what,
                   int64_t **types)
{
    struct span on_stack[SPANS_ON_STACK], *spans = on_stack;
    int result = REX_OK;
    *types = NULL;
    if (!rex_has_columns(map) || map->count < 2)
        return REX_OK;
    size_t rows = (size_t)map->count, count;
    if (rows > SPANS_ON_STACK && (spans = malloc(rows * sizeof *spans)) == NULL)
        return rex_fail_memory(rows * sizeof *spans, what);
    count = collect(map, spans);
    if (!sort(spans, count))
        goto done;
    *types = malloc(rows * sizeof **types);
    if (*types == NULL) {
        result = rex_fail_memory(rows * sizeof **types, what);
        goto done;
    }
    memcpy(*types, map->types, rows * sizeof **types);
    map->types = *types;
    result = unite_all(spans, count, map, *types, purpose, device, what);
done:
    if (spans != on_stack)
        free(spans);
    return result;
}
