/*
 * rowcheck.h - what is wrong with a row before libomptarget sees it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ROWCHECK_H
#define REX_INTERNAL_ROWCHECK_H

#include <stdbool.h>

#include "memory/devicememory.h"
#include "rex/map.h"

enum rex_purpose { REX_FOR_LAUNCH, REX_FOR_QUEUE, REX_FOR_BEGIN, REX_FOR_END, REX_FOR_UPDATE };

/* Rows of these are no memory that is looked up. */
#define REX_TYPE_NOT_MAPPED (REX_TYPE_LITERAL | REX_TYPE_PRIVATE)

static inline bool rex_row_has(int64_t type, int64_t bits)
{
    return (type & bits) != 0;
}

/* The row that a row of TYPE is a member of; -1: of none. */
static inline int64_t rex_row_parent(int64_t type)
{
    return (int64_t)((uint64_t)type >> 48) - 1;
}

/* Row I copies nothing itself: it spans the members that follow. */
static inline bool rex_row_is_parent(const struct rex_map *map, int32_t i)
{
    return i + 1 < map->count && rex_row_parent(map->types[i + 1]) == i;
}

/* Whether row ROW maps SIZE bytes at ADDRESS. */
static inline bool rex_row_contains(const struct rex_map *map, int32_t row, const void *address,
                                    int64_t size)
{
    uint64_t into = (uintptr_t)address - (uintptr_t)map->begin[row],
             all = (uint64_t)map->sizes[row];
    return !rex_row_has(map->types[row], REX_TYPE_NOT_MAPPED) && into <= all &&
           (uint64_t)size <= all - into;
}

/* Check shape and types of MAP; WHAT begins the message. 0 or REX_EINVAL. */
int rex_check_rows(const struct rex_map *map, enum rex_purpose purpose, const char *what);

/*
 * REX_EINVAL, with the column that is NULL, of a launch of KERNEL (NULL: of a data call) with COUNT
 * rows.
 */
int rex_fail_null_column(const char *kernel, const void *base, const void *begin, const void *sizes,
                         const void *types, int64_t count);

/* presence.c: check MAP against what is mapped on device NUMBER: 0, REX_EABSENT or REX_EOVERLAP. */
int rex_check_presence(const struct rex_map *map, enum rex_purpose purpose, int number,
                       const char *what);

/* Whether row I of MAP has to be looked for among what is mapped. */
bool rex_row_is_looked_up(const struct rex_map *map, int32_t i, enum rex_purpose purpose);

/*
 * Whether the COUNT rows of MAP that ROWS names were found on device NUMBER, and no mapping may
 * have ended since.
 */
bool rex_rows_were_found(const struct rex_map *map, const int32_t *rows, int32_t count, int number);

/* Row ROW of a call, SIZE bytes at BEGIN, is not present whole: REX_EABSENT. */
int rex_fail_absent(enum rex_purpose purpose, const char *what, int32_t row, const void *begin,
                    int64_t size, enum rex_presence presence, int number);

/* As rex_memory_presence(), after the image has been loaded on the device: that maps globals. */
enum rex_presence rex_presence_after_load(const void *begin, size_t size, int number);

#endif
