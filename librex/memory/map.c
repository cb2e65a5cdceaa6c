/*
 * map.c - maps built at run time (rex/map.h): count rows, allocate once, fill.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "memory/rowcheck.h"
#include "memory/section.h"

int32_t rex_map_next_row(const struct rex_map_builder *builder)
{
    return builder != NULL ? (int32_t)builder->row : rex_fail_null("rex_map_next_row", "builder");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int64_t parent_of(int64_t type)
{
    return (int64_t)((uint64_t)type >> 48) - 1;
}

/* The columns; each element is 8 bytes wide. */
static struct rex_map map_of(const struct rex_map_builder *builder)
{
    void **storage = builder->columns;
    int64_t rows = builder->capacity;
    return (struct rex_map){(int32_t)rows,
                            storage,
                            storage + rows,
                            (int64_t *)(storage + 2 * rows),
                            (int64_t *)(storage + 3 * rows),
                            NULL,
                            storage};
}

static int check_row(const struct rex_map_builder *builder, const struct rex_row *row)
{
    int64_t parent = parent_of(row->type);
    if (row->size < 0)
        return rex_fail(REX_EINVAL, "map row %lld: a size of %lld bytes", (long long)builder->row,
                        (long long)row->size);
    if (parent >= builder->row)
        return rex_fail(REX_EINVAL,
                        "map row %lld is a member of row %lld, which does not come before it",
                        (long long)builder->row, (long long)parent);
    if (parent > REX_PARENT_MAX)
        return rex_fail(REX_EINVAL,
                        "map row %lld is a member of row %lld, and at most %d can be named",
                        (long long)builder->row, (long long)parent, REX_PARENT_MAX);
    if (builder->row >= INT32_MAX)
        return rex_fail(REX_EINVAL, "a map of more than %d rows", INT32_MAX);
    return REX_OK;
}

int rex_map_add(struct rex_map_builder *builder, struct rex_row row)
{
    int result =
        builder != NULL ? check_row(builder, &row) : rex_fail_null("rex_map_add", "builder");
    if (result != REX_OK)
        return result;
    if (builder->columns != NULL && builder->row >= builder->capacity)
        return rex_fail(
            REX_EINVAL,
            "the row function pushes more rows when it fills the map than the %lld that it counted",
            (long long)builder->capacity);
    row = rex_row_inside(builder, row);
    if (builder->depth > 0 && row.begin == NULL && row.size > 0 &&
        !(row.type & (REX_MAP_LITERAL | REX_MAP_PRIVATE)))
        return rex_fail(REX_EINVAL, "map row %lld: a mapper maps %lld bytes at NULL",
                        (long long)builder->row, (long long)row.size);
    if (!(row.type & (REX_MAP_LITERAL | REX_MAP_PTR_AND_OBJ)) &&
        rex_row_leaves_element(builder, &row))
        return rex_fail(REX_EINVAL,
                        "map row %lld: a mapper maps %lld bytes at %p, which reach out of its "
                        "element of %lld bytes at %p: is that the size of its type?",
                        (long long)builder->row, (long long)row.size, row.begin,
                        (long long)builder->element_size, builder->part.base);
    if (builder->handle != NULL)
        rex_add_to_runtime(builder, &row);
    if (builder->columns != NULL) {
        struct rex_map map = map_of(builder);
        map.base[builder->row] = row.base;
        map.begin[builder->row] = row.begin;
        map.sizes[builder->row] = row.size;
        map.types[builder->row] = row.type;
    }
    builder->row++;
    return REX_OK;
}

static int push_map(struct rex_map_builder *builder, const struct rex_map *map)
{
    int64_t first = builder->row;
    int result = REX_OK;
    for (int32_t i = 0; map != NULL && i < map->count && result == REX_OK; i++) {
        struct rex_row row = {map->base[i], map->begin[i], map->sizes[i], map->types[i]};
        int64_t parent = parent_of(row.type);
        if (parent >= 0 && parent + first > REX_PARENT_MAX)
            return rex_fail(
                REX_EINVAL,
                "map row %lld: its parent would be row %lld, and at most %d can be named",
                (long long)builder->row, (long long)(parent + first), REX_PARENT_MAX);
        if (parent >= 0)
            row.type = (row.type & ~REX_MAP_MEMBER_OF_MASK) | REX_MAP_MEMBER_OF(parent + first);
        result = rex_map_add(builder, row);
    }
    return result;
}

/* ---- the two passes -------------------------------------------------------------------------- */

struct build {
    const struct rex_map *prefix, *suffix;
    rex_rows *rows;
    void *context;
};

static int pass(struct rex_map_builder *builder, const struct build *build)
{
    int result = push_map(builder, build->prefix);
    if (result == REX_OK && build->rows != NULL)
        result = build->rows(builder, build->context);
    if (result == REX_OK)
        result = push_map(builder, build->suffix);
    return result;
}

static bool has_mappers(const struct rex_map *map)
{
    return map != NULL && map->mappers != NULL;
}

/* There is a column of mappers if the prefix or the suffix has one. */
static int allocate(struct rex_map_builder *builder, const struct build *build)
{
    size_t columns = has_mappers(build->prefix) || has_mappers(build->suffix) ? 5 : 4,
           size = ((size_t)builder->row + 1) * columns * sizeof *builder->columns;
    /* one row more, so that an empty map has columns, too */
    builder->columns = calloc(1, size);
    builder->capacity = builder->row;
    return builder->columns != NULL ? REX_OK : rex_fail_memory(size, "the rows of a map");
}

static void copy_mappers(struct rex_map *map, const struct build *build)
{
    if (!has_mappers(build->prefix) && !has_mappers(build->suffix))
        return;
    map->mappers = (void **)map->storage + 4 * (size_t)map->count;
    if (has_mappers(build->prefix))
        memcpy(map->mappers, build->prefix->mappers,
               (size_t)build->prefix->count * sizeof *map->mappers);
    if (has_mappers(build->suffix))
        memcpy(map->mappers + (map->count - build->suffix->count), build->suffix->mappers,
               (size_t)build->suffix->count * sizeof *map->mappers);
}

static int check_fixed(const struct rex_map *map, const char *which)
{
    if (map == NULL || map->count == 0)
        return REX_OK;
    if (map->count < 0)
        return rex_fail(REX_EINVAL, "rex_map_build: a %s with a negative number of rows, %d", which,
                        map->count);
    if (map->base == NULL || map->begin == NULL || map->sizes == NULL || map->types == NULL)
        return rex_fail(REX_EINVAL, "rex_map_build: a %s of %d rows with a column that is NULL",
                        which, map->count);
    return REX_OK;
}

static int fill(struct rex_map_builder *builder, const struct build *build)
{
    builder->row = 0;
    int result = pass(builder, build);
    if (result == REX_OK && builder->row != builder->capacity)
        result = rex_fail(
            REX_EINVAL, "the row function counted %lld rows and pushed %lld when it filled the map",
            (long long)builder->capacity, (long long)builder->row);
    return result;
}

int rex_map_build(struct rex_map *map, const struct rex_map *prefix, rex_rows *rows, void *context,
                  const struct rex_map *suffix)
{
    struct build build = {prefix, suffix, rows, context};
    struct rex_map_builder builder = {0};
    if (map == NULL)
        return rex_fail(REX_EINVAL, "rex_map_build: the map is NULL");
    int result = check_fixed(prefix, "prefix");
    if (result == REX_OK)
        result = check_fixed(suffix, "suffix");
    if (result == REX_OK)
        result = pass(&builder, &build);
    if (result == REX_OK)
        result = allocate(&builder, &build);
    if (result == REX_OK)
        result = fill(&builder, &build);
    if (result != REX_OK) {
        free(builder.columns);
        return result;
    }
    struct rex_map built = map_of(&builder);
    copy_mappers(&built, &build);
    *map = built;
    return REX_OK;
}

void rex_map_free(struct rex_map *map)
{
    if (map == NULL || map->storage == NULL || rex_map_has_text(map))
        return;
    free(map->storage);
    memset(map, 0, sizeof *map);
}
