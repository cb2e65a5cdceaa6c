/*
 * claims.c - memory that launches by the driver work on, kept apart from data calls and from each
 * other.
 *
 * libomptarget counts a launch as a user of what it maps, so that another thread cannot end the
 * mapping under it. A launch by the driver claims its memory instead. A data call says that it
 * comes, waits for the launches that have claimed some of the same memory, and lets no more begin;
 * a launch that finds one waits for its end. Who waits has claimed nothing yet, but for a data
 * call, which waits for launches alone: so none waits in a circle.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/claims.h"

#include <pthread.h>

#include "base/fork.h"
#include "base/log.h"
#include "memory/devicememory.h"
#include "memory/rowcheck.h"
#include "omp/mappingend.h"
#include "omp/sender.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static struct rex_claim *claims;

static void forget_in_child(void)
{
    rex_fork_renew(&lock);
    ended = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    claims = NULL;
}

REX_FORK_RENEWED(15, forget_in_child);

/* ---- who has to wait ------------------------------------------------------------------------- */

static bool overlap(const struct rex_place *one, const struct rex_place *other)
{
    return one->begin < other->end && other->begin < one->end;
}

/* Both map this memory for themselves, and one would not see what the other copies back. */
static bool exclude(const struct rex_claim *one, size_t i, const struct rex_claim *other, size_t j)
{
    return !one->place[i].is_mapped && !other->place[j].is_mapped &&
           (one->is_changed[i] || other->is_changed[j]);
}

static bool meet(const struct rex_claim *one, const struct rex_claim *other)
{
    bool any = one->is_data_call || other->is_data_call;
    if (one->number != other->number || one->lowest >= other->highest ||
        other->lowest >= one->highest)
        return false;
    for (size_t i = 0; i < one->count; i++)
        for (size_t j = 0; j < other->count; j++)
            if (overlap(&one->place[i], &other->place[j]) && (any || exclude(one, i, other, j)))
                return true;
    return false;
}

static void find_extent(struct rex_claim *claim)
{
    claim->lowest = UINTPTR_MAX;
    claim->highest = 0;
    for (size_t i = 0; i < claim->count; i++) {
        const struct rex_place *place = &claim->place[i];
        claim->lowest = place->begin < claim->lowest ? place->begin : claim->lowest;
        claim->highest = place->end > claim->highest ? place->end : claim->highest;
    }
}

enum { OF_DATA_CALLS = 1, OF_LAUNCHES = 2 };

/* Whether CLAIM, which is none of these KINDS or not at work yet, meets one of them. */
static bool meets_any(const struct rex_claim *claim, int kinds)
{
    for (const struct rex_claim *other = claims; other != NULL; other = other->next)
        if ((kinds & (other->is_data_call ? OF_DATA_CALLS : OF_LAUNCHES)) && meet(claim, other))
            return true;
    return false;
}

static void add(struct rex_claim *claim)
{
    claim->next = claims;
    claims = claim;
}

/* ---- launches -------------------------------------------------------------------------------- */

void rex_claim_begin(struct rex_claim *claim)
{
    find_extent(claim);
    rex_lock(&lock);
    for (;;) {
        rex_mappings_place(claim->place, claim->count, claim->number);
        if (!meets_any(claim, OF_DATA_CALLS | OF_LAUNCHES))
            break;
        pthread_cond_wait(&ended, &lock);
    }
    add(claim);
    rex_unlock(&lock);
}

void rex_claim_end(struct rex_claim *claim)
{
    rex_lock(&lock);
    struct rex_claim **at = &claims;
    while (*at != NULL && *at != claim)
        at = &(*at)->next;
    if (*at != NULL)
        *at = claim->next;
    pthread_cond_broadcast(&ended);
    rex_unlock(&lock);
}

/* ---- calls of libomptarget ------------------------------------------------------------------- */

#define TYPE_ATTACH INT64_C(0x4000) /* of clang 22 */
/* Rows of one call that are kept apart; of more, the memory between the first and the last. */
#define PLACES 16

/* The call that a thread is in; libomptarget may call itself through the forwarders. */
static __thread struct {
    unsigned depth;
    struct rex_claim claim;
    struct rex_place place[PLACES];
    bool is_changed[PLACES];
} own;

static bool pointers_are_attached;

bool rex_pointers_are_attached(void)
{
    return __atomic_load_n(&pointers_are_attached, __ATOMIC_ACQUIRE);
}

static bool is_mapped_by(const struct rex_map *map, int32_t i)
{
    return !rex_row_has(map->types[i], REX_TYPE_NOT_MAPPED) && map->sizes[i] >= 0;
}

static struct rex_place place_of(const void *begin, int64_t size)
{
    uintptr_t at = (uintptr_t)begin;
    return (struct rex_place){.begin = at, .end = at + (uintptr_t)(size > 0 ? size : 1)};
}

static void add_place(struct rex_place place, bool is_changed)
{
    size_t i = own.claim.count;
    if (i < PLACES) {
        own.place[i] = place;
        own.is_changed[i] = is_changed;
        own.claim.count++;
        return;
    }
    struct rex_place *last = &own.place[PLACES - 1];
    last->begin = place.begin < last->begin ? place.begin : last->begin;
    last->end = place.end > last->end ? place.end : last->end;
    own.is_changed[PLACES - 1] |= is_changed;
}

static void collect(const struct rex_map *map, int number)
{
    own.claim =
        (struct rex_claim){.place = own.place, .is_changed = own.is_changed, .number = number};
    for (int32_t i = 0; i < map->count; i++) {
        if (!is_mapped_by(map, i))
            continue;
        add_place(place_of(map->begin[i], map->sizes[i]), (map->types[i] & REX_TYPE_FROM) != 0);
        if (map->types[i] & REX_TYPE_POINTER)
            add_place(place_of(map->base[i], sizeof(void *)), true);
    }
}

static bool has_mappers(const struct rex_map *map)
{
    bool some = false;
    for (int32_t i = 0; map->mappers != NULL && i < map->count; i++)
        some |= map->mappers[i] != NULL;
    return some;
}

/* What the call may map besides what its rows name, or otherwise than they say. */
static void note_unusual(enum rex_watched_call call, const struct rex_map *map)
{
    bool attaches = false;
    for (int32_t i = 0; i < map->count; i++)
        attaches |=
            rex_row_has(map->types[i], REX_TYPE_POINTER | TYPE_ATTACH) && is_mapped_by(map, i);
    if (attaches)
        __atomic_store_n(&pointers_are_attached, true, __ATOMIC_RELEASE);
    /* the pointers of a launch's pointees stay mapped */
    if (has_mappers(map) || (attaches && call == REX_CALL_LAUNCHES))
        rex_mapped_unseen();
}

/* Others of the same kind are waited for first: they may change what is mapped. */
static void come_as_data_call(void)
{
    own.claim.is_data_call = true;
    rex_lock(&lock);
    for (;;) {
        for (size_t i = 0; i < own.claim.count; i++)
            rex_mappings_widen(&own.place[i], own.claim.number);
        find_extent(&own.claim);
        if (!meets_any(&own.claim, OF_DATA_CALLS))
            break;
        pthread_cond_wait(&ended, &lock);
    }
    add(&own.claim);
    while (meets_any(&own.claim, OF_LAUNCHES))
        pthread_cond_wait(&ended, &lock);
    rex_unlock(&lock);
}

static void before(enum rex_watched_call call, const struct rex_map *map, int number)
{
    if (own.depth == 0 && rex_sender_for(rex_against_all()) != REX_SENDER_DRIVER)
        return;
    note_unusual(call, map);
    if (own.depth++ > 0)
        return;
    collect(map, number);
    if (call == REX_CALL_LAUNCHES)
        rex_claim_begin(&own.claim);
    else
        come_as_data_call();
}

/* Row by row: each lies in one mapping, or is none that the index can have. */
static void add_begun(const void *begin, size_t size, int number)
{
    void *device = NULL;
    struct rex_mapping made = {(uintptr_t)begin, (uintptr_t)begin + size, number, 0};
    if (!rex_mapping_begun(begin, size, number) && size > 0 &&
        rex_memory_find(begin, size, number, &device) == REX_PRESENT_WHOLE)
        rex_mappings_add(&made, 1);
}

static void add_all_begun(const struct rex_map *map, int number)
{
    for (int32_t i = 0; i < map->count; i++) {
        if (!is_mapped_by(map, i) || (map->mappers != NULL && map->mappers[i] != NULL))
            continue;
        add_begun(map->begin[i], (size_t)map->sizes[i], number);
        if (map->types[i] & REX_TYPE_POINTER)
            add_begun(map->base[i], sizeof(void *), number);
    }
}

static void after(enum rex_watched_call call, const struct rex_map *map, int number)
{
    if (own.depth == 0)
        return;
    if (call == REX_CALL_BEGINS)
        add_all_begun(map, number);
    if (--own.depth == 0)
        rex_claim_end(&own.claim);
}

/* Before any call: nothing can be mapped yet. */
__attribute__((constructor)) static void begin(void)
{
    static const struct rex_call_watch watch = {before, after};
    rex_calls_watch(&watch);
}
