/*
 * mapped.c - a launch by the driver whose rows libomptarget maps.
 *
 * LLVM 18 launches no plain kernel on a GPU. A launch maps and unmaps its rows as data calls do. So
 * libomptarget maps the rows (members, attached pointers, mappers), the driver launches, and
 * libomptarget unmaps. Other releases launch themselves, because that waits once and not three
 * times.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/mapped.h"

#include <stdlib.h>

#include "base/error.h"
#include "launch/bydriver.h"
#include "launch/check.h"
#include "memory/data.h"
#include "memory/rowcheck.h"

/* Clears a row that is only an argument and maps nothing; the other rows keep their numbers. */
static void set_row(const struct rex_map *from, int32_t i, struct rex_map *to)
{
    bool is_mapped = !rex_row_has(from->types[i], REX_MAP_NOT_MAPPED);
    to->base[i] = is_mapped ? from->base[i] : NULL;
    to->begin[i] = is_mapped ? from->begin[i] : NULL;
    to->sizes[i] = is_mapped ? from->sizes[i] : 0;
    to->types[i] = is_mapped ? from->types[i] & ~REX_MAP_TARGET_PARAM : 0;
}

/*
 * Writes the rows of MAP that are mapped to *MAPPED; the caller frees its bases. 0 or REX_ENOMEM.
 */
static int rows_to_map(const struct rex_map *map, const char *name, struct rex_map *mapped)
{
    size_t count = (size_t)map->count, row = 2 * sizeof(void *) + 2 * sizeof(int64_t);
    *mapped = *map;
    mapped->base = calloc(count, row);
    if (mapped->base == NULL)
        return rex_fail_memory(count * row, name);
    mapped->begin = mapped->base + count;
    mapped->sizes = (void *)(mapped->begin + count);
    mapped->types = mapped->sizes + count;
    for (int32_t i = 0; i < map->count; i++)
        set_row(map, i, mapped);
    return REX_OK;
}

static int launch_in_region(struct rex_target *target, const struct rex_launch_config *launch,
                            const struct rex_map *map, const struct rex_map *mapped)
{
    int result = rex_map_for_launch(target->registration->module, target->device, mapped);
    if (result != REX_OK)
        return result;
    result = rex_launch_mapped_by_driver(target, launch, map);
    /* No kernel has written to rows that were mapped for a refused launch: no copy back. */
    for (int32_t i = 0; result != REX_OK && i < mapped->count; i++)
        mapped->types[i] &= ~REX_MAP_FROM;
    int ended = rex_unmap_after_launch(target->device, mapped);
    return result == REX_OK ? ended : result;
}

static bool is_refused(const struct rex_target *target)
{
    return target->registration->release->plain.refused &&
           !(rex_kernel_flags(target->kernel) & REX_KERNEL_CALLED);
}

int rex_launch_mapped(struct rex_target *target, const struct rex_launch_config *launch,
                      const struct rex_map *map)
{
    enum rex_kernel_form form = REX_FORM_UNKNOWN;
    struct rex_map mapped;
    if (target->against & ~REX_AGAINST_MAPPING || !is_refused(target))
        return REX_OK;
    int result = rex_check_form_of(target, map, &form);
    if (result == REX_OK && form != REX_FORM_PLAIN)
        return REX_OK;
    target->against = 0;
    if (result == REX_OK)
        result = rows_to_map(map, rex_target_name(target), &mapped);
    if (result != REX_OK)
        return result;
    result = launch_in_region(target, launch, map, &mapped);
    free(mapped.base);
    return result;
}
