/*
 * rowcheck.c - what is wrong with a row, whatever is mapped.
 *
 * Types that make no sense are read one way by one release of LLVM and another way by the next.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/rowcheck.h"

#include "base/error.h"

#define KNOWN_BITS                                                                                 \
    (REX_TYPE_TOFROM | REX_TYPE_ALWAYS | REX_TYPE_DELETE | REX_TYPE_POINTER | REX_TYPE_PARAMETER | \
     REX_TYPE_RETURN | REX_TYPE_PRIVATE | REX_TYPE_LITERAL | REX_TYPE_IMPLICIT | REX_TYPE_CLOSE |  \
     REX_TYPE_PRESENT | REX_TYPE_HOLD | REX_TYPE_MEMBER_MASK)

/* Why no release does what TYPE says, NULL if there is nothing wrong. */
static const char *wrong_type(int64_t type, enum rex_purpose purpose)
{
    if (rex_row_has(type, ~KNOWN_BITS))
        return "has type bits that are no map type";
    if (rex_row_has(type, REX_TYPE_LITERAL) && rex_row_has(type, REX_TYPE_PRIVATE))
        return "is both a literal and private";
    if (rex_row_has(type, REX_TYPE_LITERAL) &&
        rex_row_has(type, REX_TYPE_TOFROM | REX_TYPE_DELETE | REX_TYPE_ALWAYS) &&
        !rex_row_has(type, REX_TYPE_POINTER))
        return "is a literal and asks for a copy";
    if (rex_row_has(type, REX_TYPE_PRIVATE) && rex_row_has(type, REX_TYPE_FROM))
        return "is private and asks for a copy back";
    if (rex_row_has(type, REX_TYPE_NOT_MAPPED) && !rex_row_has(type, REX_TYPE_POINTER) &&
        purpose != REX_FOR_LAUNCH && purpose != REX_FOR_QUEUE)
        return "is a kernel's argument, and this is not a launch";
    if (purpose == REX_FOR_QUEUE && rex_row_has(type, REX_TYPE_PRIVATE))
        return "is private, which a queue has no memory for: pass a value, or map it";
    if (purpose == REX_FOR_QUEUE && rex_row_has(type, REX_TYPE_ALWAYS))
        return "asks for a copy at every launch, which a queue does not make: use "
               "rex_queue_update()";
    if (rex_row_has(type, REX_TYPE_RETURN) &&
        (purpose == REX_FOR_LAUNCH || purpose == REX_FOR_QUEUE))
        return "asks for its device address, which only a data region gives back";
    if (rex_row_has(type, REX_TYPE_DELETE) && purpose != REX_FOR_END && purpose != REX_FOR_UPDATE)
        return "deletes, which only the end of a mapping can";
    return NULL;
}

/*
 * A member outside of its parent is mapped with no count of its own, and stays mapped for good
 * (LLVM 14 to 23). Rows that come after those that can be named may be members of one further out;
 * see section.c.
 */
static bool leaves_parent(const struct rex_map *map, int32_t i)
{
    int64_t type = map->types[i], parent = rex_row_parent(type);
    return parent >= 0 && i <= REX_PARENT_MAX && map->sizes[i] > 0 &&
           !rex_row_has(type, REX_TYPE_NOT_MAPPED | REX_TYPE_POINTER) &&
           !rex_row_contains(map, (int32_t)parent, map->begin[i], map->sizes[i]);
}

static const char *wrong_row(const struct rex_map *map, int32_t i, enum rex_purpose purpose)
{
    int64_t type = map->types[i];
    if (map->sizes[i] < 0)
        return "has a negative size";
    if (rex_row_parent(type) >= i)
        return "is a member of a row that does not come before it";
    if (purpose != REX_FOR_UPDATE && leaves_parent(map, i))
        return "does not lie in the row that it is a member of: memory elsewhere is a pointee";
    if (!rex_row_has(type, REX_TYPE_NOT_MAPPED) && map->begin[i] == NULL && map->sizes[i] > 0)
        return "begins at NULL";
    if (rex_row_has(type, REX_TYPE_POINTER) && !rex_row_has(type, REX_TYPE_LITERAL) &&
        map->base[i] == NULL)
        return "is a pointee whose pointer is at NULL";
    if (purpose == REX_FOR_UPDATE && !rex_row_has(type, REX_TYPE_TOFROM) &&
        !rex_row_is_parent(map, i))
        return "is neither to nor from";
    if (purpose == REX_FOR_LAUNCH && rex_row_has(type, REX_TYPE_LITERAL) &&
        !rex_row_has(type, REX_TYPE_POINTER) && map->sizes[i] > 8)
        return "is a value of more than 8 bytes, which only a queue can pass: map it, or use "
               "REX_FIRSTPRIVATE";
    return wrong_type(type, purpose);
}

int rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what)
{
    if (map == NULL)
        return REX_OK;
    if (map->count < 0)
        return rex_fail(REX_EINVAL, "%s: a map with a negative number of rows, %d", what,
                        map->count);
    if (map->count > 0 &&
        (map->base == NULL || map->begin == NULL || map->sizes == NULL || map->types == NULL))
        return rex_fail(REX_EINVAL, "%s: a map of %d rows with a column that is NULL", what,
                        map->count);
    for (int32_t i = 0; i < map->count; i++) {
        const char *wrong = wrong_row(map, i, purpose);
        if (wrong != NULL)
            return rex_fail(REX_EINVAL,
                            "%s: map row %d %s (base %p, begin %p, %lld bytes, type 0x%llx)", what,
                            i, wrong, map->base[i], map->begin[i], (long long)map->sizes[i],
                            (unsigned long long)map->types[i]);
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
    return column == NULL ? REX_OK
                          : rex_fail(REX_EINVAL, "%s%s%s: the column of %s is NULL, for %lld rows",
                                     kernel != NULL ? "kernel \"" : "a data call",
                                     kernel != NULL ? kernel : "", kernel != NULL ? "\"" : "",
                                     column, (long long)count);
}
