/*
 * map.c - maps built at run time (rex/map.h). One pass counts the rows, and a second pass fills the
 * columns.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calls/forward.h"
#include "memory/rowcheck.h"
#include "memory/section.h"

int32_t rex_map_next_row(const struct rex_map_builder *builder)
{
    if (builder == NULL)
        return rex_fail_null("rex_map_next_row", "builder");
    return (int32_t)builder->row;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Counts ROW. If the builder has columns, writes ROW to them. Each element has 8 bytes. */
static inline void put_row(struct rex_map_builder *builder, const struct rex_row *row)
{
    if (builder->columns != NULL) {
        void **cell = builder->columns + builder->row;
        int64_t rows = builder->capacity;
        cell[0] = row->base;
        cell[rows] = row->begin;
        ((int64_t *)cell)[2 * rows] = row->size;
        ((int64_t *)cell)[3 * rows] = row->type;
    }
    builder->row++;
}

/* Checks ROW and adds it. Replaces the type in ROW by the type that the row gets in the map. */
static __attribute__((noinline)) int check_and_put_row(struct rex_map_builder *builder,
                                                       struct rex_row *row)
{
    long long number = builder->row, parent = rex_row_parent(row->type);
    if (row->size < 0)
        return rex_fail(REX_EINVAL, "rex_map_add: map row %lld: the size, %lld bytes, is negative",
                        number, (long long)row->size);
    if (parent >= number)
        return rex_fail(
            REX_EINVAL,
            "rex_map_add: map row %lld is a member of row %lld, which does not come before it",
            number, parent);
    if (parent > REX_PARENT_MAX)
        return rex_fail(
            REX_EINVAL,
            "rex_map_add: map row %lld is a member of row %lld, and the last row that can have "
            "members is %d",
            number, parent, REX_PARENT_MAX);
    if (number >= INT32_MAX)
        return rex_fail(REX_EINVAL, "rex_map_add: the map has too many rows: the maximum is %d",
                        INT32_MAX);
    if (builder->columns != NULL && number >= builder->capacity)
        return rex_fail(
            REX_EINVAL,
            "rex_map_build: the first call of the row function gives %lld row%s, and the "
            "second gives more: the function must add equal rows both times",
            (long long)builder->capacity, builder->capacity == 1 ? "" : "s");
    row->type = rex_type_inside(builder, row->type);
    if (builder->depth > 0 && row->begin == NULL && row->size > 0 &&
        !rex_row_has(row->type, REX_MAP_NOT_MAPPED))
        return rex_fail(REX_EINVAL, "rex_map_add: map row %lld: a mapper maps NULL (bytes: %lld)",
                        number, (long long)row->size);
    /*
     * A mapper maps one element of a section, for example s[2] of s[0] to s[9]. Refuse a row that
     * has memory of the section, but does not lie in this element, for example a row with s[3].
     */
    uintptr_t begin = (uintptr_t)row->begin, end = begin + (uintptr_t)row->size;
    uintptr_t first = (uintptr_t)builder->part.begin, element = (uintptr_t)builder->part.base;
    if (builder->depth > 0 && !rex_row_has(row->type, REX_MAP_LITERAL | REX_MAP_PTR_AND_OBJ) &&
        begin < first + (uintptr_t)builder->part.size && end > first &&
        (begin < element || end > element + (uintptr_t)builder->element_size))
        return rex_fail(
            REX_EINVAL,
            "rex_map_add: map row %lld: %lld bytes at %p do not lie in the mapper's element, %lld "
            "bytes at %p: check the element size given to rex_map_add_mapped()",
            number, (long long)row->size, row->begin, (long long)builder->element_size,
            builder->part.base);
    if (builder->handle != NULL)
        REX_REAL(push_mapper_component)
    (builder->handle, row->base, row->begin, row->size, row->type, NULL);
    put_row(builder, row);
    return REX_OK;
}

int rex_map_add(struct rex_map_builder *builder, struct rex_row row)
{
    if (builder == NULL)
        return rex_fail_null("rex_map_add", "builder");
    /* A builder with a handle of libomptarget has capacity 0, so all of its rows are checked. */
    if (builder->row >= builder->capacity || builder->depth > 0 || row.size < 0 ||
        rex_row_has(row.type, REX_MAP_MEMBER_OF_MASK))
        return check_and_put_row(builder, &row);
    put_row(builder, &row);
    return REX_OK;
}

static int add_map(struct rex_map_builder *builder, const struct rex_map *map)
{
    int64_t first = builder->row;
    for (int32_t i = 0; map != NULL && i < map->count; i++) {
        struct rex_row row = {map->base[i], map->begin[i], map->sizes[i], map->types[i]};
        int64_t parent = rex_row_parent(row.type);
        if (parent >= 0 && parent + first > REX_PARENT_MAX)
            return rex_fail(
                REX_EINVAL,
                "rex_map_build: map row %lld is a member of row %lld, and the last row that can "
                "have members is %d",
                (long long)builder->row, (long long)(parent + first), REX_PARENT_MAX);
        if (parent >= 0)
            row.type = (row.type & ~REX_MAP_MEMBER_OF_MASK) | REX_MAP_MEMBER_OF(parent + first);
        int result = rex_map_add(builder, row);
        if (result != REX_OK)
            return result;
    }
    return REX_OK;
}

/* ---- the two passes -------------------------------------------------------------------------- */

int rex_map_build(struct rex_map *map, const struct rex_map *prefix, rex_rows *rows, void *context,
                  const struct rex_map *suffix)
{
    struct rex_map_builder builder = {.capacity = INT32_MAX};
    if (map == NULL)
        return rex_fail(REX_EINVAL, "rex_map_build: the map is NULL");
    for (int i = 0; i < 2; i++) {
        const struct rex_map *fixed = i == 0 ? prefix : suffix;
        const char *which = i == 0 ? "prefix" : "suffix";
        if (fixed == NULL || fixed->count == 0)
            continue;
        if (fixed->count < 0)
            return rex_fail(REX_EINVAL, "rex_map_build: the %s's number of rows, %d, is negative",
                            which, fixed->count);
        if (!rex_has_columns(fixed))
            return rex_fail(REX_EINVAL, "rex_map_build: a column of the %s is NULL (rows: %d)",
                            which, fixed->count);
    }
    void **before = prefix != NULL ? prefix->mappers : NULL;
    void **behind = suffix != NULL ? suffix->mappers : NULL;
    bool mapped = before != NULL || behind != NULL; /* the map has a fifth column, of mappers */
    int result;
add_rows:
    result = add_map(&builder, prefix);
    if (result != REX_OK)
        goto free_columns;
    if (rows != NULL) {
        result = rows(&builder, context);
        if (result != REX_OK)
            goto free_columns;
    }
    result = add_map(&builder, suffix);
    if (result != REX_OK)
        goto free_columns;
    if (builder.columns == NULL) { /* the first pass, which counts the rows, is over */
        /* one more row, so that an empty map has columns */
        size_t size = ((size_t)builder.row + 1) * (mapped ? 5 : 4) * sizeof *builder.columns;
        builder.columns = calloc(1, size);
        if (builder.columns == NULL)
            return rex_fail_memory(size, "the rows of a map");
        builder.capacity = builder.row;
        builder.row = 0;
        goto add_rows;
    }
    if (builder.row != builder.capacity) {
        result = rex_fail(
            REX_EINVAL,
            "rex_map_build: the first call of the row function gives %lld row%s, and the "
            "second %lld: the function must add equal rows both times",
            (long long)builder.capacity, builder.capacity == 1 ? "" : "s", (long long)builder.row);
        goto free_columns;
    }
    int64_t count = builder.capacity;
    struct rex_map built = {.count = (int32_t)count,
                            .base = builder.columns,
                            .begin = builder.columns + count,
                            .sizes = (int64_t *)(builder.columns + 2 * count),
                            .types = (int64_t *)(builder.columns + 3 * count),
                            .storage = builder.columns};
    if (mapped)
        built.mappers = builder.columns + 4 * count;
    if (before != NULL)
        memcpy(built.mappers, before, (size_t)prefix->count * sizeof *built.mappers);
    if (behind != NULL)
        memcpy(built.mappers + (built.count - suffix->count), behind,
               (size_t)suffix->count * sizeof *built.mappers);
    *map = built; /* MAP may be the prefix or the suffix */
    return REX_OK;
free_columns:
    free(builder.columns);
    return result;
}

void rex_map_free(struct rex_map *map)
{
    if (map == NULL || map->storage == NULL || rex_map_has_text(map))
        return;
    free(map->storage);
    memset(map, 0, sizeof *map);
}
