/*
 * columns.h - the types of rows, and the packet that passes the columns of a map.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_COLUMNS_H
#define REX_INTERNAL_COLUMNS_H

#include <stdbool.h>

#include "omp/entrypoints.h"
#include "rex/map.h"

/* ---- the bits of a row's type ---------------------------------------------------------------- */

/* A row with one of these bits is a value or private memory, and has no mapping. */
#define REX_MAP_NOT_MAPPED (REX_MAP_LITERAL | REX_MAP_PRIVATE)

/*
 * The type bits that may be set in rows:
 * - REX_ROW_VALUE: the bits of a row that is a value;
 * - REX_ROW_PRIVATE: the bits of a row of private memory;
 * - REX_ROW_MAPPED: the bits of a row of mapped memory that is not a member of another row.
 */
#define REX_ROW_VALUE \
    (REX_MAP_LITERAL | REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT | REX_MAP_KIND_MASK)
#define REX_ROW_PRIVATE (REX_MAP_PRIVATE | REX_MAP_TO | REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT)
#define REX_ROW_MAPPED                                                                           \
    (REX_MAP_TOFROM | REX_MAP_ALWAYS | REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT | REX_MAP_CLOSE | \
     REX_MAP_PRESENT | REX_MAP_OMPX_HOLD)

/* Type bits of a row whose device address libomptarget returns to the program. */
#define REX_ROW_RETURNED (REX_MAP_RETURN_PARAM | REX_MAP_FB_NULLIFY)

/*
 * If the type of a mapped row has only these bits, the row's references are known. Each begin call
 * (target enter data) adds one reference, and each end call (target exit data) drops one.
 */
#define REX_ROW_COUNTED ((REX_ROW_MAPPED & ~REX_MAP_OMPX_HOLD) | REX_ROW_RETURNED)

/* All bits of map types, except REX_MAP_KIND_MASK. */
#define REX_ROW_KNOWN                                                             \
    (REX_ROW_MAPPED | REX_MAP_NOT_MAPPED | REX_MAP_DELETE | REX_MAP_PTR_AND_OBJ | \
     REX_ROW_RETURNED | REX_MAP_MEMBER_OF_MASK)

static inline bool rex_row_has(int64_t type, int64_t bits)
{
    return (type & bits) != 0;
}

/*
 * Returns true if row I maps memory, and the base of the row lies outside that memory. A base at
 * the end of the memory is not outside.
 */
static inline bool rex_base_is_apart(const struct rex_map *map, int32_t i)
{
    uintptr_t distance = (uintptr_t)map->base[i] - (uintptr_t)map->begin[i];
    return map->sizes[i] > 0 && !rex_row_has(map->types[i], REX_MAP_NOT_MAPPED) &&
           distance > (uintptr_t)map->sizes[i];
}

/* Returns true if MAP has rows and all four columns. A map from the program may lack a column. */
static inline bool rex_has_columns(const struct rex_map *map)
{
    return map->count > 0 && map->base != NULL && map->begin != NULL && map->sizes != NULL &&
           map->types != NULL;
}

/*
 * Returns a packet with the columns BASE to MAPPERS. The packet has no grid and no trip count.
 * NAMES and MAPPERS may be NULL.
 */
static inline struct __tgt_kernel_arguments
rex_packet_of_columns(int32_t count, void **base, void **begin, const int64_t *sizes,
                      const int64_t *types, void **names, void **mappers)
{
    return (struct __tgt_kernel_arguments){
        .Version = 3, /* the version that has all fields */
        .NumArgs = count,
        .ArgsBase = base,
        .Args = begin,
        .ArgSizes = (int64_t *)(uintptr_t)sizes, /* libomptarget does not write to the columns */
        .ArgTypes = (int64_t *)(uintptr_t)types,
        .ArgNames = names,
        .ArgMappers = mappers,
    };
}

static inline struct __tgt_kernel_arguments rex_packet_of_map(const struct rex_map *map)
{
    return rex_packet_of_columns(map->count, map->base, map->begin, map->sizes, map->types, NULL,
                                 map->mappers);
}

#endif
