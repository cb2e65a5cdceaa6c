/*
 * rowcheck.c - checks rows without a look at the mappings. Checks each row alone, and compares the
 * rows that one call maps for the first time.
 *
 * librex refuses contradictory types, because releases of LLVM read them differently.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/rowcheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- each row alone -------------------------------------------------------------------------- */

static const char *wrong_member(const struct rex_map *map, int32_t i)
{
    int64_t type = map->types[i], parent = rex_row_parent(type);
    if (parent >= i)
        return "is a member of a row that does not come before it";
    /*
     * Refuse a member that lies outside its parent. LLVM 14 to 23 map such a member, but add no
     * reference for it, so it remains mapped until the end of the process.
     *
     * But accept any member after row REX_PARENT_MAX. A type cannot name a parent after row
     * REX_PARENT_MAX. If the real parent comes after that row, rex_map_add_mapped() names an
     * earlier section instead, and the earlier section need not contain the member.
     */
    if (parent >= 0 && i <= REX_PARENT_MAX && map->sizes[i] > 0 &&
        !rex_row_has(type, REX_MAP_NOT_MAPPED | REX_MAP_PTR_AND_OBJ) &&
        !rex_row_contains(map, (int32_t)parent, map->begin[i], map->sizes[i]))
        return "does not lie in the row that it is a member of: if a pointer in that row points to "
               "this memory, map the memory by REX_ATTACH()";
    return NULL;
}

static bool has_members(const struct rex_map *map, int32_t i)
{
    for (int32_t j = i + 1; j < map->count; j++)
        if (rex_row_parent(map->types[j]) == i)
            return true;
    return false;
}

/* Returns why row I is wrong for PURPOSE on every LLVM release, or NULL if the row is right. */
static const char *wrong_row(const struct rex_map *map, int32_t i, enum rex_purpose purpose)
{
    int64_t type = map->types[i], size = map->sizes[i];
    bool launches = purpose == REX_FOR_LAUNCH || purpose == REX_FOR_QUEUE;
    /* Most rows have only an address, a size and a direction, and are right for every purpose. */
    if ((type & ~(REX_MAP_TOFROM | REX_MAP_TARGET_PARAM)) == 0 &&
        rex_row_has(type, REX_MAP_TOFROM) && size >= 0 && size <= REX_ROW_MOST &&
        map->begin[i] != NULL)
        return NULL;
    bool is_value = rex_row_has(type, REX_MAP_LITERAL);
    /* Most other rows are values for a kernel. */
    if (is_value && launches && (type & ~REX_ROW_VALUE) == 0 && size >= 0 && size <= 8)
        return NULL;
    bool is_attached = rex_row_has(type, REX_MAP_PTR_AND_OBJ);
    bool is_private = rex_row_has(type, REX_MAP_PRIVATE);
    if (size < 0)
        return "has a negative size";
    const char *wrong = wrong_member(map, i);
    if (wrong != NULL && (purpose != REX_FOR_UPDATE || rex_row_parent(type) >= i))
        return wrong;
    if (!is_value && !is_private && map->begin[i] == NULL && size > 0)
        return "begins at NULL";
    if (is_attached && !is_value && map->base[i] == NULL)
        return "is attached to a pointer at NULL";
    if (purpose == REX_FOR_UPDATE && !rex_row_has(type, REX_MAP_TOFROM) && !has_members(map, i))
        return "has neither REX_MAP_TO nor REX_MAP_FROM, and an update needs one of them";
    if (purpose == REX_FOR_LAUNCH && is_value && !is_attached && size > 8)
        return "is a value of more than 8 bytes, which only the CUDA driver can pass: let the "
               "kernel take a pointer, and map the value or pass it with REX_FIRSTPRIVATE()";
    if (rex_row_has(type, is_value ? ~(REX_ROW_KNOWN | REX_MAP_KIND_MASK) : ~REX_ROW_KNOWN))
        return "has type bits that are not a map type";
    if (is_value && is_private)
        return "is both a literal and private";
    if (is_value && !is_attached && rex_row_has(type, REX_MAP_TOFROM | REX_MAP_ALWAYS))
        return "is a literal and asks for a copy";
    if (is_value && !is_attached && rex_row_has(type, REX_MAP_DELETE))
        return "is a literal and has REX_MAP_DELETE: a literal has no mapping to delete";
    if (is_private && size == 0) /* LLVM 16 to 24 abort or crash */
        return "is private and has no bytes";
    if (is_private && rex_row_has(type, REX_MAP_FROM))
        return "is private and asks for a copy back";
    if ((is_value || is_private) && !is_attached && !launches)
        return "is a kernel's argument, and the call is not a launch";
    if (purpose == REX_FOR_QUEUE && is_private)
        return "is private, and a queue has no memory for private rows: pass a value, or map the "
               "row";
    if (purpose == REX_FOR_QUEUE && rex_row_has(type, REX_MAP_ALWAYS))
        return "asks for a copy at every launch, which a queue does not make: use "
               "rex_queue_update()";
    if (rex_row_has(type, REX_MAP_RETURN_PARAM) && launches)
        return "asks for its device address, which only a data region returns";
    if ((type & REX_ROW_RETURNED) == REX_MAP_FB_NULLIFY)
        return "is made by REX_OR_NULL(), whose argument must be a REX_USE_DEVICE_PTR()";
    if (rex_row_has(type, REX_MAP_DELETE) && purpose != REX_FOR_END && purpose != REX_FOR_UPDATE)
        return "has REX_MAP_DELETE, which only the end of a mapping may have";
    return NULL;
}

/*
 * Returns the end of the argument at TEXT: a comma outside brackets and strings, or the final NUL.
 */
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

const char *rex_row_text(const struct rex_map *map, int32_t i, char text[REX_ROW_TEXT])
{
    text[0] = '\0';
    if (map == NULL || !rex_map_has_text(map))
        return text;
    const char *row = map->storage;
    if (*row == ',') {
        /*
         * The text is from the macro of a launch or a region, and has one argument before the rows.
         * Example: REX_LAUNCH(axpy, 80, 256, REX_TO(x, n)) has the text ",,256, REX_TO(x, n)". Skip
         * the commas and the argument 256.
         */
        row = end_of_argument(row + strspn(row, ","));
        row += *row == ',';
    }
    for (int32_t before = 0; before < i; before++) {
        row = end_of_argument(row);
        if (*row != ',')
            return text;
        row++;
    }
    row += strspn(row, " ");
    /* Write only a macro of librex: the expansion of another macro would not help the reader. */
    if (strncmp(row, "REX_", 4) == 0)
        snprintf(text, REX_ROW_TEXT, "; row %d is %.*s", i, (int)(end_of_argument(row) - row), row);
    return text;
}

static int fail_row(const struct rex_map *map, int32_t i, const char *wrong, const char *what)
{
    char parent[40] = "", text[REX_ROW_TEXT];
    if (rex_row_parent(map->types[i]) >= 0)
        snprintf(parent, sizeof parent, ", member of row %lld",
                 (long long)rex_row_parent(map->types[i]));
    return rex_fail(
        REX_EINVAL, "%.*s: map row %d %s (base %p, begin %p, %lld bytes, type 0x%llx%s)%s",
        REX_KERNEL_NAME(what), i, wrong, map->base[i], map->begin[i], (long long)map->sizes[i],
        (unsigned long long)map->types[i], parent, rex_row_text(map, i, text));
}

int rex_check_member(const struct rex_map *map, int32_t i, const char *what)
{
    int64_t type = map->types[i];
    if (!rex_row_has(type, REX_MAP_MEMBER_OF_MASK) || rex_row_has(type, ~REX_ROW_KNOWN))
        return REX_OK;
    const char *wrong = wrong_member(map, i);
    if (wrong == NULL)
        return REX_OK;
    return fail_row(map, i, wrong, what);
}

int rex_check_size(const struct rex_map *map, int32_t i, const char *what)
{
    char text[REX_ROW_TEXT];
    if (map->sizes[i] <= REX_ROW_MOST || rex_row_has(map->types[i], REX_MAP_NOT_MAPPED))
        return REX_OK;
    return rex_fail(REX_ENOMEM, "%.*s: map row %d has %lld bytes, more than a TiB%s",
                    REX_KERNEL_NAME(what), i, (long long)map->sizes[i], rex_row_text(map, i, text));
}

int rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what)
{
    if (map == NULL)
        return REX_OK;
    if (map->count < 0)
        return rex_fail(REX_EINVAL, "%.*s: the map's number of rows, %d, is negative",
                        REX_KERNEL_NAME(what), map->count);
    if (map->count > 0 && !rex_has_columns(map))
        return rex_fail(REX_EINVAL, "%.*s: a column of the map is NULL (rows: %d)",
                        REX_KERNEL_NAME(what), map->count);
    for (int32_t i = 0; i < map->count; i++) {
        const char *wrong = wrong_row(map, i, purpose);
        if (wrong != NULL)
            return fail_row(map, i, wrong, what);
        if (map->sizes[i] > REX_ROW_MOST && rex_purpose_begins(purpose) &&
            rex_check_size(map, i, what) != REX_OK)
            return REX_ENOMEM;
    }
    return REX_OK;
}

int rex_fail_null_column(const char *kernel, const char *call, const struct rex_map *map)
{
    const char *column = map->base == NULL    ? "base addresses"
                         : map->begin == NULL ? "begin addresses"
                         : map->sizes == NULL ? "sizes"
                         : map->types == NULL ? "map types"
                                              : NULL;
    if (column == NULL)
        return REX_OK;
    if (kernel == NULL)
        return rex_fail(REX_EINVAL, "%s: the column of %s is NULL (rows: %d)", call, column,
                        map->count);
    return rex_fail(REX_EINVAL, "kernel \"%.*s\": the column of %s is NULL (rows: %d)",
                    REX_KERNEL_NAME(kernel), column, map->count);
}

/* ---- rows against each other ----------------------------------------------------------------- */

/*
 * LLVM 14 to 23 map the rows of a call in the order of the rows. A row inside an earlier row uses
 * the mapping of the earlier row. If a row overlaps an earlier row in any other way, libomptarget
 * aborts, unless the later row is implicit.
 *
 * Example: a call has the row a[0:10] and then the implicit row a[0:20]. Only a[0:10] is mapped,
 * and libomptarget accepts a[0:20]. If a[0:20] is copied, LLVM 23 and 24 copy all 20 elements, past
 * the end of the mapping.
 */

int rex_spans_compare(const void *left, const void *right)
{
    const struct rex_row_span *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static bool is_span_before(const struct rex_row_span *a, const struct rex_row_span *b)
{
    return a->row != b->row ? a->row < b->row : a->pointer && !b->pointer;
}

static int order_as_mapped(const void *left, const void *right)
{
    return is_span_before(right, left) - is_span_before(left, right);
}

/*
 * Finds the spans that libomptarget maps, and moves them to the front of SPANS, in the order of the
 * rows. Sets *MAPPED to the number of these spans. A span that overlaps an earlier mapped span is
 * not mapped. If the unmapped span extends past the mapped span, and `may_exceed` of the unmapped
 * span is false, returns an error.
 */
static int map_in_order(struct rex_row_span *spans, size_t count, size_t *mapped,
                        const struct rex_map *map, const char *what)
{
    char text[REX_ROW_TEXT], other_text[REX_ROW_TEXT];
    qsort(spans, count, sizeof *spans, order_as_mapped);
    *mapped = 0;
    for (size_t i = 0; i < count; i++) {
        const struct rex_row_span *span = &spans[i], *other = NULL;
        for (size_t j = 0; j < *mapped && other == NULL; j++)
            if (rex_spans_overlap(&spans[j], span))
                other = &spans[j];
        if (other == NULL)
            spans[(*mapped)++] = *span;
        if (other == NULL || rex_span_contains(other, span) || span->may_exceed)
            continue;
        const char *of = other->pointer ? "the pointer of " : "";
        return rex_fail(
            REX_EOVERLAP,
            "%.*s: map row %d%s, %zu bytes at %p, overlaps %srow %d, %zu bytes at %p, and does not "
            "lie in %srow %d: libomptarget aborts, or copies past the end of %srow %d%s%s%s",
            REX_KERNEL_NAME(what), span->row, span->pointer ? ": its pointer" : "",
            rex_span_size(span), (void *)span->begin, of, other->row, rex_span_size(other),
            (void *)other->begin, of, other->row, of, other->row,
            rex_span_contains(span, other) ? "; put the larger row first" : "",
            rex_row_text(map, span->row, text), rex_row_text(map, other->row, other_text));
    }
    return REX_OK;
}

int rex_new_spans_check(struct rex_row_span *spans, size_t *count, const struct rex_map *map,
                        const char *what)
{
    size_t kept = 0, all = *count;
    if (all < 2)
        return REX_OK;
    qsort(spans, all, sizeof *spans, rex_spans_compare);
    for (size_t i = 0, next, mapped; i < all; i = next) {
        /*
         * Find a group of spans that overlap, directly or through other spans. Example: bytes 0 to
         * 4, 3 to 8 and 7 to 9. FIRST is the span of the group that libomptarget maps first.
         */
        struct rex_row_span first = spans[i], group = spans[i];
        for (next = i + 1; next < all && spans[next].begin < group.end; next++) {
            group.end = spans[next].end > group.end ? spans[next].end : group.end;
            if (is_span_before(&spans[next], &first))
                first = spans[next];
        }
        if (rex_span_contains(&first, &group)) {
            spans[i] = first;
            mapped = 1;
        } else {
            /*
             * FIRST does not contain the group. The group can be valid only if a row is implicit,
             * so this slow check is rare.
             */
            int result = map_in_order(&spans[i], next - i, &mapped, map, what);
            if (result != REX_OK)
                return result;
        }
        memmove(&spans[kept], &spans[i], mapped * sizeof *spans);
        kept += mapped;
    }
    *count = kept;
    return REX_OK;
}
