/*
 * mapping.c - when what is known of mappings is out of date.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "mapping.h"

#include <pthread.h>

#include "forward.h"
#include "log.h"
#include "pending.h"
#include "rex/queue.h"
#include "runtime.h"

uint64_t rex_mapping_generation = 1;
__thread bool rex_looking_up;

void rex_mappings_changed(void)
{
    rex_mapping_ended();
}

bool rex_mapping_seen(void)
{
    return rex_forward_first();
}

bool rex_mapping_all_seen(void)
{
    enum { UNASKED, YES, NO };
    static int answer;
    int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
    if (known == UNASKED) {
        known = rex_mapping_seen() ? YES : NO;
        __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
    }
    return known == YES;
}

void rex_mapping_settle(int64_t device, int32_t count, void **begin, int64_t *sizes, int64_t *types, const char *call)
{
    struct rex_map map = {.count = count, .begin = begin, .sizes = sizes, .types = types};
    if (count > 0 && begin != NULL && sizes != NULL && types != NULL)
        rex_pending_wait(&map, device == -1 ? rex_runtime_default_device() : (int)device, call);
}

/* ---- hints ------------------------------------------------------------------------------------------------------------------- */

#define HINTS 64 /* the last of them */

struct hint {
    uintptr_t begin;
    size_t size; /* 0: none */
    int number;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hint hints[HINTS];
static unsigned next;

static bool is_mapped_row(const struct rex_map *map, int32_t i)
{
    return map->sizes[i] > 0 && !(map->types[i] & (REX_TYPE_LITERAL | REX_TYPE_PRIVATE));
}

void rex_mapping_note(const struct rex_map *map, int number)
{
    rex_lock(&lock);
    for (int32_t i = 0; i < map->count; i++)
        if (is_mapped_row(map, i))
            hints[next++ % HINTS] = (struct hint){(uintptr_t)map->begin[i], (size_t)map->sizes[i], number};
    rex_unlock(&lock);
}

void rex_mapping_forget(const struct rex_map *map, int number)
{
    rex_lock(&lock);
    for (int32_t i = 0; i < map->count; i++)
        for (unsigned j = 0; j < HINTS; j++)
            if (hints[j].begin == (uintptr_t)map->begin[i] && hints[j].number == number)
                hints[j].size = 0;
    rex_unlock(&lock);
}

bool rex_mapping_hint(const void *begin, size_t size, int number, const void **row, size_t *row_size)
{
    bool found = false;
    rex_lock(&lock);
    for (unsigned j = 0; j < HINTS && !found; j++) {
        size_t into = (uintptr_t)begin - hints[j].begin;
        if (hints[j].number != number || (uintptr_t)begin < hints[j].begin || into >= hints[j].size || size > hints[j].size - into)
            continue;
        *row = (const void *)hints[j].begin;
        *row_size = hints[j].size;
        found = true;
    }
    rex_unlock(&lock);
    return found;
}
