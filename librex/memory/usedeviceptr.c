/*
 * usedeviceptr.c - puts back the bases of a map that a call has overwritten with device addresses.
 *
 * libomptarget overwrites the base of a row with RETURN_PARAM by its device address. If the map is
 * begun once more, that base is no host address, and its device address would be wrong. So librex
 * remembers the bases, and puts them back when the map is ended or begun again.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/usedeviceptr.h"

#include <stdlib.h>

#include "base/error.h"
#include "cuda/context.h"

/*
 * The rows of one map that got device addresses. The address of the bases identifies the map. If
 * another map has its bases there later, they differ from the written addresses.
 */
struct rex_use_device_ptr {
    struct rex_use_device_ptr *next;
    void **column;
    int32_t count;
    struct {
        int32_t row;
        void *base, *written;
    } rows[];
};

static struct rex_use_device_ptr *all; /* under the lock of lists */

static int32_t count_rows(const struct rex_map *map)
{
    int32_t count = 0;
    for (int32_t i = 0; i < map->count; i++)
        count += (map->types[i] & REX_MAP_RETURN_PARAM) != 0;
    return count;
}

static struct rex_use_device_ptr *take_out(void **column)
{
    struct rex_use_device_ptr **at = &all, *found;
    rex_lists_lock();
    while (*at != NULL && (*at)->column != column)
        at = &(*at)->next;
    found = *at;
    if (found != NULL)
        *at = found->next;
    rex_lists_unlock();
    return found;
}

void rex_use_device_ptr_put_back(const struct rex_map *map)
{
    struct rex_use_device_ptr *returned = take_out(map->base);
    for (int32_t i = 0; returned != NULL && i < returned->count; i++) {
        int32_t row = returned->rows[i].row;
        if (row < map->count && (map->types[row] & REX_MAP_RETURN_PARAM) &&
            map->base[row] == returned->rows[i].written)
            map->base[row] = returned->rows[i].base;
    }
    free(returned);
}

int rex_use_device_ptr_prepare(const struct rex_map *map, struct rex_use_device_ptr **returned)
{
    int32_t count = count_rows(map);
    size_t size = sizeof **returned + (size_t)count * sizeof *(*returned)->rows;
    *returned = malloc(size);
    if (*returned == NULL)
        return rex_fail_memory(size, "the bases of a map");
    (*returned)->column = map->base;
    (*returned)->count = 0;
    for (int32_t i = 0; i < map->count; i++)
        if (map->types[i] & REX_MAP_RETURN_PARAM) {
            (*returned)->rows[(*returned)->count].row = i;
            (*returned)->rows[(*returned)->count++].base = map->base[i];
        }
    return REX_OK;
}

void rex_use_device_ptr_add(struct rex_use_device_ptr *returned)
{
    for (int32_t i = 0; i < returned->count; i++)
        returned->rows[i].written = returned->column[returned->rows[i].row];
    rex_lists_lock();
    returned->next = all;
    all = returned;
    rex_lists_unlock();
}
