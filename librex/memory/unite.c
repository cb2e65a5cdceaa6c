/*
 * unite.c - if rows of one call have equal memory, gives each of them the copies of all.
 *
 * A program may pass one array twice in a call, as an input and as an output. LLVM 14 to 22 make
 * one mapping, and only the copies of the first row: the output would be lost without an error. So
 * librex gives each of these rows the directions of all of them. If the memory was mapped before
 * the call, the added directions cause no copy, because a row without ALWAYS then copies nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/unite.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "memory/rowlookup.h"
#include "omp/device.h"

/* ---- rows that are compared ------------------------------------------------------------------ */

/*
 * Writes to SPANS the rows that have to be compared. If all these rows have the same directions,
 * returns 0, because no comparison is needed. Otherwise returns the number of these rows. Leaves
 * out:
 * - if IS_RAW is true, the memory of attached pointers;
 * - the members of a struct that are not attached pointers, and the row of the whole struct:
 *   libomptarget copies these members together;
 * - rows with a mapper, because such a row maps memory besides its own.
 */
static size_t collect_spans(const struct rex_map *map, bool is_raw, struct rex_row_span *spans)
{
    int64_t first = 0, differences = 0;
    size_t count = 0;
    for (int32_t i = 0; i < map->count; i++) {
        int64_t type = map->types[i];
        bool is_attached = rex_row_has(type, REX_MAP_PTR_AND_OBJ);
        if (rex_row_has(type, REX_MAP_NOT_MAPPED) || map->sizes[i] <= 0 ||
            (is_attached ? is_raw : rex_row_has(type, REX_MAP_MEMBER_OF_MASK)) ||
            rex_row_is_parent(map, i) || (map->mappers != NULL && map->mappers[i] != NULL))
            continue;
        first = count == 0 ? type : first;
        differences |= first ^ type;
        spans[count++] =
            (struct rex_row_span){.begin = (uintptr_t)map->begin[i],
                                  .end = rex_end_of(map->begin[i], (size_t)map->sizes[i]),
                                  .row = i};
    }
    return rex_row_has(differences, REX_MAP_TOFROM) ? count : 0;
}

static bool are_spans_in_order(const struct rex_row_span *spans, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (spans[i - 1].end > spans[i].begin)
            return false;
    return true;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/*
 * Fails if the row PART lies in an earlier row WHOLE that the call maps, and asks for a copy that
 * WHOLE lacks. libomptarget would make only the copies of WHOLE. A part with ALWAYS passes, because
 * libomptarget always copies it.
 */
static int check_part(const struct rex_map *map, const struct rex_row_span *part,
                      const struct rex_row_span *whole, int64_t device, const char *what)
{
    char text[REX_ROW_TEXT], whole_text[REX_ROW_TEXT];
    int number;
    int64_t type = map->types[part->row], lost = type & ~map->types[whole->row];
    const void *begin = (const void *)whole->begin;
    size_t size = rex_span_size(whole);
    if (!rex_span_contains(whole, part) || part->row <= whole->row ||
        rex_row_has(type, REX_MAP_ALWAYS) || !rex_row_has(lost, REX_MAP_TOFROM))
        return REX_OK;
    if (rex_device_offload(device, &number) != REX_OK ||
        rex_memory_presence(begin, size, number) != REX_ABSENT ||
        !rex_is_absent(begin, size, number))
        return REX_OK;
    return rex_fail(
        REX_EOVERLAP,
        "%s: map row %d, %zu bytes at %p, asks for a copy %s the device, but lies in row %d, %zu "
        "bytes at %p, which does not ask for this copy: libomptarget would not make the copy; give "
        "both rows the same direction%s%s",
        what, part->row, rex_span_size(part), (void *)part->begin,
        rex_row_has(lost, REX_MAP_TO) ? "to" : "from", whole->row, size, begin,
        rex_row_text(map, part->row, text), rex_row_text(map, whole->row, whole_text));
}

/* ---- all rows -------------------------------------------------------------------------------- */

/*
 * TYPES are the types of MAP. If several rows have equal memory, gives each of them the directions
 * of all of them. Example: if one row copies an array to the device, and another row copies the
 * array back, both become rows that copy in both directions. Then checks each row that lies in
 * another row (check_part()).
 */
static int unite_spans(const struct rex_row_span *spans, size_t count, const struct rex_map *map,
                       int64_t *types, enum rex_purpose purpose, int64_t device, const char *what)
{
    /* directions in which the call can copy; libomptarget ignores any other direction */
    int64_t copies = REX_MAP_TOFROM;
    if (purpose == REX_FOR_BEGIN)
        copies = REX_MAP_TO;
    else if (purpose == REX_FOR_END)
        copies = REX_MAP_FROM;
    for (size_t i = 0, next; i < count; i = next) {
        next = i + 1;
        while (next < count && spans[next].begin == spans[i].begin &&
               spans[next].end == spans[i].end)
            next++;
        /*
         * The spans from I to before NEXT are equal. A direction gets ALWAYS only if a row has
         * ALWAYS for this direction. Example: in a launch, the first row has ALWAYS and TO, and the
         * second row has FROM. Then the first row becomes TOFROM, and the second row becomes ALWAYS
         * and TO. If the memory is new, the first row makes both copies. If the memory was mapped
         * before, the first row copies nothing, and the second row copies to the device.
         */
        int64_t all = 0, always = 0;
        for (size_t j = i; j < next; j++) {
            int64_t type = types[spans[j].row];
            all |= type & REX_MAP_TOFROM;
            always |= rex_row_has(type, REX_MAP_ALWAYS) ? type & copies : 0;
        }
        for (size_t j = i; next > i + 1 && j < next; j++) {
            int64_t *type = &types[spans[j].row], own = all;
            if (always != 0 && (j > i || always == (all & copies)))
                own = REX_MAP_ALWAYS | always | (all & ~copies);
            *type = (*type & ~(REX_MAP_TOFROM | REX_MAP_ALWAYS)) | own;
        }
        for (; next < count && spans[next].begin < spans[i].end; next++) {
            if (purpose == REX_FOR_END)
                continue;
            int result = check_part(map, &spans[next], &spans[i], device, what);
            if (result != REX_OK)
                return result;
        }
    }
    return REX_OK;
}

#define SPANS_ON_STACK 32
#define FEW 16 /* up to this many spans are compared in pairs, which takes less time than sorting */

int rex_rows_unite(struct rex_map *map, bool is_raw, enum rex_purpose purpose, int64_t device,
                   const char *what, int64_t **types)
{
    struct rex_row_span on_stack[SPANS_ON_STACK], *spans = on_stack;
    int result = REX_OK;
    *types = NULL;
    if (!rex_has_columns(map) || map->count < 2)
        return REX_OK;
    size_t rows = (size_t)map->count, count;
    if (rows > SPANS_ON_STACK && (spans = malloc(rows * sizeof *spans)) == NULL)
        return rex_fail_memory(rows * sizeof *spans, what);
    count = collect_spans(map, is_raw, spans);
    if (count <= FEW) {
        bool some = false;
        for (size_t i = 1; i < count; i++)
            for (size_t j = 0; j < i; j++)
                some |= rex_spans_overlap(&spans[j], &spans[i]);
        if (!some)
            goto done;
    } else if (are_spans_in_order(spans, count))
        goto done;
    qsort(spans, count, sizeof *spans, rex_spans_compare);
    if (are_spans_in_order(spans, count))
        goto done;
    *types = malloc(rows * sizeof **types);
    if (*types == NULL) {
        result = rex_fail_memory(rows * sizeof **types, what);
        goto done;
    }
    memcpy(*types, map->types, rows * sizeof **types);
    map->types = *types;
    result = unite_spans(spans, count, map, *types, purpose, device, what);
done:
    if (spans != on_stack)
        free(spans);
    return result;
}
