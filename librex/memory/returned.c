/*
 * returned.c - device addresses that a call has written into a map.
 *
 * libomptarget writes them over the bases that it has worked them out from (RETURN_PARAM). A map
 * that is begun once more would go out with device addresses for bases, and come back with
 * addresses of nothing. So the bases are kept, and put back when the map is ended or begun again.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/returned.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"

/*
 * Of one map, which is told by its column 1. A column of another map in the same place does not
 * hold what was written.
 */
struct rex_given {
    struct rex_given *next;
    void **column;
    int32_t count;
    struct {
        int32_t row;
        void *base, *written;
    } rows[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rex_given *all;

REX_FORK_TAKEN(64, NULL);

static int32_t count_rows(const struct rex_map *map)
{
    int32_t count = 0;
    for (int32_t i = 0; i < map->count; i++)
        count += (map->types[i] & REX_TYPE_RETURN) != 0;
    return count;
}

static struct rex_given *take_out(void **column)
{
    struct rex_given **at = &all, *found;
    rex_lock(&lock);
    while (*at != NULL && (*at)->column != column)
        at = &(*at)->next;
    found = *at;
    if (found != NULL)
        *at = found->next;
    rex_unlock(&lock);
    return found;
}

static int is_of(const struct rex_given *given, const struct rex_map *map, int32_t count)
{
    if (given == NULL || given->count != count)
        return 0;
    for (int32_t i = 0; i < count; i++)
        if (given->rows[i].row >= map->count ||
            !(map->types[given->rows[i].row] & REX_TYPE_RETURN) ||
            map->base[given->rows[i].row] != given->rows[i].written)
            return 0;
    return 1;
}

void rex_given_take_back(const struct rex_map *map)
{
    int32_t count = count_rows(map);
    struct rex_given *given = count > 0 ? take_out(map->base) : NULL;
    if (is_of(given, map, count))
        for (int32_t i = 0; i < count; i++)
            map->base[given->rows[i].row] = given->rows[i].base;
    free(given);
}

int rex_given_keep(const struct rex_map *map, struct rex_given **given)
{
    int32_t count = count_rows(map);
    size_t size = sizeof **given + (size_t)count * sizeof *(*given)->rows;
    *given = NULL;
    if (count == 0)
        return REX_OK;
    *given = malloc(size);
    if (*given == NULL)
        return rex_fail_memory(size, "the bases of a map");
    (*given)->column = map->base;
    (*given)->count = 0;
    for (int32_t i = 0; i < map->count; i++)
        if (map->types[i] & REX_TYPE_RETURN) {
            (*given)->rows[(*given)->count].row = i;
            (*given)->rows[(*given)->count++].base = map->base[i];
        }
    return REX_OK;
}

void rex_given_note(struct rex_given *given)
{
    if (given == NULL)
        return;
    for (int32_t i = 0; i < given->count; i++)
        given->rows[i].written = given->column[given->rows[i].row];
    rex_lock(&lock);
    given->next = all;
    all = given;
    rex_unlock(&lock);
}
