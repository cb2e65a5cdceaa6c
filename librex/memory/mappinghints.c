/*
 * mappinghints.c - rows that data calls have mapped, as far as librex remembers them.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/mappinghints.h"

#include <pthread.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "omp/mappingend.h"
#include "omp/runtime.h"

#define HINTS 64 /* the last of them */

struct hint {
    uintptr_t begin;
    size_t size; /* 0: none */
    int number;
    /* the row was mapped anew: its mapping is these bytes, no more and no less */
    bool whole;
    uint64_t elsewhere; /* the ends elsewhere when that was so */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hint hints[HINTS];
static uint64_t made; /* that many hints were, each in the next slot */

static void forget_in_child(void)
{
    rex_fork_renew(&lock);
    memset(hints, 0, sizeof hints);
    made = 0;
}

REX_FORK_RENEWED(16, forget_in_child);

/* The hints that are something, or were. */
static unsigned filled(void)
{
    /*
     * Relaxed: under the lock it is exact; without, only whether there is any hint is asked, and a
     * row that another thread is just mapping may be missed in any order.
     */
    uint64_t all = __atomic_load_n(&made, __ATOMIC_RELAXED);
    return all < HINTS ? (unsigned)all : HINTS;
}

static bool is_mapped_row(const struct rex_map *map, int32_t i)
{
    return map->sizes[i] > 0 && !(map->types[i] & (REX_TYPE_LITERAL | REX_TYPE_PRIVATE));
}

/* Ends that librex has not made itself are in the upper half of the generation. */
static uint64_t ends_elsewhere(void)
{
    return rex_mapping_now() / REX_END_ELSEWHERE;
}

static bool is_hint(const struct hint *hint, uintptr_t begin, size_t size, int number)
{
    return hint->begin == begin && hint->size == size && hint->number == number;
}

/*
 * The hint that says so, made where there is none: in an empty slot, else in that of the oldest.
 */
static struct hint *hint_of(uintptr_t begin, size_t size, int number)
{
    struct hint *empty = NULL;
    for (unsigned j = 0; j < filled(); j++)
        if (is_hint(&hints[j], begin, size, number))
            return &hints[j];
        else if (empty == NULL && hints[j].size == 0)
            empty = &hints[j];
    if (empty == NULL) {
        empty = &hints[made % HINTS];
        /* Relaxed: written under the lock; who reads it without looks at nothing else. */
        __atomic_store_n(&made, made + 1, __ATOMIC_RELAXED);
    }
    *empty = (struct hint){.begin = begin, .size = size, .number = number};
    return empty;
}

void rex_mapping_remember(const struct rex_map *map, int number)
{
    rex_lock(&lock);
    for (int32_t i = map->count > HINTS ? map->count - HINTS : 0; i < map->count; i++)
        if (is_mapped_row(map, i))
            hint_of((uintptr_t)map->begin[i], (size_t)map->sizes[i], number);
    rex_unlock(&lock);
}

void rex_mapping_remember_whole(uintptr_t begin, size_t size, int number)
{
    rex_lock(&lock);
    struct hint *hint = hint_of(begin, size, number);
    hint->whole = true;
    hint->elsewhere = ends_elsewhere();
    rex_unlock(&lock);
}

static void forget_absent(uintptr_t begin, size_t size, int number)
{
    for (unsigned j = 0; j < filled(); j++)
        if (hints[j].number == number && hints[j].begin < begin + size &&
            begin < hints[j].begin + hints[j].size &&
            !rex_runtime_omp()->is_present((const void *)hints[j].begin, number))
            hints[j].size = 0;
}

void rex_mapping_forget(const struct rex_map *map, int number)
{
    rex_lock(&lock);
    for (int32_t i = 0; i < map->count; i++)
        if (!(map->types[i] & (REX_TYPE_LITERAL | REX_TYPE_PRIVATE)))
            forget_absent((uintptr_t)map->begin[i], map->sizes[i] > 0 ? (size_t)map->sizes[i] : 1,
                          number);
    rex_unlock(&lock);
}

bool rex_mapping_hint(const void *begin, size_t size, int number, const void **row,
                      size_t *row_size)
{
    bool found = false;
    rex_lock(&lock);
    for (unsigned j = 0; j < filled() && !found; j++) {
        size_t into = (uintptr_t)begin - hints[j].begin;
        if (hints[j].number != number || (uintptr_t)begin < hints[j].begin ||
            into >= hints[j].size || size > hints[j].size - into)
            continue;
        *row = (const void *)hints[j].begin;
        *row_size = hints[j].size;
        found = true;
    }
    rex_unlock(&lock);
    return found;
}

static bool is_within(uintptr_t at, uintptr_t begin, size_t size)
{
    return at > begin && at - begin < size;
}

bool rex_mapping_divides(const void *begin, size_t size, int number)
{
    uint64_t elsewhere = ends_elsewhere();
    bool found = false;
    if (!rex_forward_first())
        return false;
    rex_lock(&lock);
    for (unsigned j = 0; j < filled() && !found; j++)
        found = hints[j].whole && hints[j].size > 0 && hints[j].number == number &&
                hints[j].elsewhere == elsewhere &&
                (is_within(hints[j].begin, (uintptr_t)begin, size) ||
                 is_within(hints[j].begin + hints[j].size, (uintptr_t)begin, size));
    rex_unlock(&lock);
    return found;
}

bool rex_mapping_within(const void *begin, size_t size, int number, const void **row)
{
    bool found = false;
    if (filled() == 0) /* each row of each launch that maps is asked for */
        return false;
    rex_lock(&lock);
    for (unsigned j = 0; j < filled() && !found; j++)
        if (hints[j].size > 0 && hints[j].number == number &&
            is_within(hints[j].begin, (uintptr_t)begin, size)) {
            *row = (const void *)hints[j].begin;
            found = true;
        }
    rex_unlock(&lock);
    return found;
}
