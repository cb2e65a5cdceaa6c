/*
 * columns.h - the rows of a map, and their columns as a packet has them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_COLUMNS_H
#define REX_INTERNAL_COLUMNS_H

#include <stdbool.h>

#include "omp/entrypoints.h"
#include "rex/map.h"

/* Rows with one of these bits name no memory that is looked up. */
#define REX_MAP_NOT_MAPPED (REX_MAP_LITERAL | REX_MAP_PRIVATE)

static inline bool rex_row_has(int64_t type, int64_t bits)
{
    return (type & bits) != 0;
}

/* Whether row I maps memory that its base does not lie in, nor ends. */
static inline bool rex_base_is_apart(const struct rex_map *map, int32_t i)
{
    uintptr_t distance = (uintptr_t)map->base[i] - (uintptr_t)map->begin[i];
    return map->sizes[i] > 0 && !rex_row_has(map->types[i], REX_MAP_NOT_MAPPED) &&
           distance > (uintptr_t)map->sizes[i];
}

/* Whether MAP has rows and all their columns. A call by the program may lack a column. */
static inline bool rex_has_columns(const struct rex_map *map)
{
    return map->count > 0 && map->base != NULL && map->begin != NULL && map->sizes != NULL &&
           map->types != NULL;
}

/* A packet with rows, and with neither grid nor trip count. NAMES and MAPPERS may be NULL. */
static inline struct __tgt_kernel_arguments
rex_packet_of_columns(int32_t count, void **base, void **begin, const int64_t *sizes,
                      const int64_t *types, void **names, void **mappers)
{
    return (struct __tgt_kernel_arguments){
        .Version = 3, /* the version that has all fields */
        .NumArgs = count,
        .ArgsBase = base,
        .Args = begin,
        .ArgSizes = (int64_t *)(uintptr_t)sizes, /* libomptarget does not write to them */
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
