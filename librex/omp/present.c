/*
 * present.c - keeps calls that change mappings apart from launches by the driver that use them.
 *
 * libomptarget counts a launch as a user of the memory that it maps, so that another thread cannot
 * end the mapping under it. A launch by the driver claims its memory instead. A data call that maps
 * or ends memory claims it first: no more launches and updates begin on it. Then the call waits for
 * those at work. A launch or update that meets such a call waits for its end before it claims
 * anything. No circle arises, because a call that waits with a claim waits only for launches and
 * updates.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/present.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/process.h"
#include "base/log.h"
#include "omp/columns.h"
#include "omp/mappings.h"
#include "omp/device.h"
#include "omp/sender.h"

static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static struct rex_claim *claims;

static void forget_in_child(void)
{
    ended = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    claims = NULL;
}

REX_FORK_RENEWED(16, forget_in_child);

/* ---- which calls exclude each other ---------------------------------------------------------- */

static bool overlap(const struct rex_place *one, const struct rex_place *other)
{
    return one->begin < other->end && other->begin < one->end;
}

static bool is_launch(const struct rex_claim *claim)
{
    return claim->call == REX_CALL_BY_DRIVER || claim->call == REX_CALL_LAUNCHES;
}

/* Whether CLAIM is of a data call that may change mappings. */
static bool is_data_call(const struct rex_claim *claim)
{
    return claim->call == REX_CALL_BEGINS || claim->call == REX_CALL_ENDS;
}

/* Whether the present table keeps two launches apart. libomptarget does so for two of its own. */
static bool are_kept_apart(const struct rex_claim *one, const struct rex_claim *other)
{
    return is_launch(one) && is_launch(other) &&
           (one->call == REX_CALL_BY_DRIVER || other->call == REX_CALL_BY_DRIVER);
}

/*
 * Whether a begin that maps PLACE anew excludes a call on WITH. The index gets a new mapping before
 * its data is copied, so the other call may find WITH mapped too early. A call with a mapper
 * (is_all) does not tell its places.
 */
static bool is_being_mapped(const struct rex_claim *claim, const struct rex_place *place,
                            const struct rex_place *with)
{
    return claim->call == REX_CALL_BEGINS && !place->is_whole &&
           (!claim->is_all || !with->is_whole);
}

/*
 * Whether two calls cannot work at once on two places that overlap. The end of a mapping excludes
 * all other calls. So does a begin that makes a mapping. Two launches that map the memory for
 * themselves exclude each other if either copies it back.
 */
static bool exclude(const struct rex_claim *one, size_t i, const struct rex_claim *other, size_t j)
{
    const struct rex_place *place = &one->place[i], *with = &other->place[j];
    return one->call == REX_CALL_ENDS || other->call == REX_CALL_ENDS ||
           is_being_mapped(one, place, with) || is_being_mapped(other, with, place) ||
           (are_kept_apart(one, other) && !place->is_mapped && !with->is_mapped &&
            (place->is_changed || with->is_changed));
}

/*
 * Whether two claims exclude each other. If places are in order, the loops skip those that end
 * before, or begin behind, the place compared.
 */
static bool meet(const struct rex_claim *one, const struct rex_claim *other)
{
    const struct rex_place *with = other->place;
    size_t first = 0;
    if (one->number != other->number || one->lowest >= other->highest ||
        other->lowest >= one->highest)
        return false;
    for (size_t i = 0; i < one->count; i++) {
        const struct rex_place *place = &one->place[i];
        while (one->is_ordered && first < other->count && with[first].end <= place->begin)
            first++;
        for (size_t j = first; j < other->count; j++) {
            if (other->is_ordered && with[j].begin >= place->end)
                break;
            if (overlap(place, &with[j]) && exclude(one, i, other, j))
                return true;
        }
    }
    return false;
}

static int by_begin(const void *left, const void *right)
{
    const struct rex_place *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

#define FEW 8 /* places that are compared faster than sorted */

static void put_in_order(struct rex_claim *claim)
{
    claim->is_ordered = true;
    for (size_t i = 1; i < claim->count && claim->is_ordered; i++)
        claim->is_ordered = claim->place[i - 1].begin <= claim->place[i].begin;
    if (claim->is_ordered || claim->count <= FEW)
        return;
    qsort(claim->place, claim->count, sizeof *claim->place, by_begin);
    claim->is_ordered = true;
}

/* Looks up how the places are mapped. The places of an end are widened to whole mappings. */
static void find_places(struct rex_claim *claim)
{
    if (claim->is_all)
        return;
    if (claim->call == REX_CALL_ENDS)
        for (size_t i = 0; i < claim->count; i++)
            rex_mappings_widen(&claim->place[i], claim->number);
    else
        rex_mappings_place(claim->place, claim->count, claim->number);
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

enum { OF_DATA_CALLS = 1, OF_OTHERS = 2 };

/*
 * Whether CLAIM excludes any added claim of these KINDS. CLAIM is of another kind, or not added
 * yet.
 */
static bool meets_any(const struct rex_claim *claim, int kinds)
{
    for (const struct rex_claim *other = claims; other != NULL; other = other->next)
        if ((kinds & (is_data_call(other) ? OF_DATA_CALLS : OF_OTHERS)) && meet(claim, other))
            return true;
    return false;
}

static void add(struct rex_claim *claim)
{
    claim->next = claims;
    __atomic_store_n(&claims, claim, __ATOMIC_SEQ_CST);
}

/*
 * Whether calls claim their memory. After a fallback reason comes up, launches by the driver may
 * still be at work. A launch that claims later sees the reason, because it reads the reasons after
 * its claim, and both are sequentially consistent.
 */
static bool are_in_force(void)
{
    return rex_sender_for(rex_against_all()) == REX_SENDER_DRIVER ||
           __atomic_load_n(&claims, __ATOMIC_SEQ_CST) != NULL;
}

/* Waits until CLAIM meets none. Its places' mappings then stay the same until it is unpinned. */
static void wait_for(struct rex_claim *claim, int kinds)
{
    for (;;) {
        find_places(claim);
        find_extent(claim);
        if (!meets_any(claim, kinds))
            break;
        rex_present_wait(&ended);
    }
}

/*
 * A data call waits for other data calls first, because they may change the mappings. It waits for
 * launches and updates after it has claimed, when no more of them can begin.
 */
void rex_present_pin(struct rex_claim *claim)
{
    put_in_order(claim);
    rex_present_lock();
    wait_for(claim, is_data_call(claim) ? OF_DATA_CALLS : OF_DATA_CALLS | OF_OTHERS);
    add(claim);
    while (is_data_call(claim) && meets_any(claim, OF_OTHERS))
        rex_present_wait(&ended);
    rex_present_unlock();
}

void rex_present_unpin(struct rex_claim *claim)
{
    rex_present_lock();
    struct rex_claim **at = &claims;
    while (*at != NULL && *at != claim)
        at = &(*at)->next;
    if (*at != NULL)
        __atomic_store_n(at, claim->next, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&ended);
    rex_present_unlock();
}

static bool pointers_are_attached;

bool rex_pointers_are_attached(void)
{
    return __atomic_load_n(&pointers_are_attached, __ATOMIC_ACQUIRE);
}

/* ---- calls of libomptarget ------------------------------------------------------------------- */

#define TYPE_ATTACH INT64_C(0x4000) /* map type of clang 22: attach a pointer */
#define PLACES 16                   /* places without an allocation */

/* The outermost call that a thread is in; libomptarget may call itself through the forwarders. */
struct call {
    unsigned depth;
    bool lies_in_unseen; /* the index gets none of its rows */
    struct rex_claim claim;
    struct rex_place place[PLACES], *more; /* an array for more than PLACES places, or NULL */
};

static bool is_mapped_by(const struct rex_map *map, int32_t i)
{
    return !rex_row_has(map->types[i], REX_MAP_NOT_MAPPED) && map->sizes[i] >= 0;
}

static void add_place(struct rex_claim *claim, const void *begin, int64_t size, bool is_changed)
{
    uintptr_t at = (uintptr_t)begin;
    claim->place[claim->count++] = (struct rex_place){
        .begin = at, .end = at + (uintptr_t)(size > 0 ? size : 1), .is_changed = is_changed};
}

static size_t count_places(const struct rex_map *map)
{
    size_t count = 0;
    for (int32_t i = 0; i < map->count; i++)
        count += is_mapped_by(map, i) ? (map->types[i] & REX_MAP_PTR_AND_OBJ ? 2u : 1u) : 0u;
    return count;
}

/* False: no memory for COUNT places. */
static bool make_room(struct call *own, size_t count)
{
    own->more = count > PLACES ? malloc(count * sizeof *own->more) : NULL;
    if (own->more != NULL)
        own->claim.place = own->more;
    return count <= PLACES || own->more != NULL;
}

static bool has_mappers(const struct rex_map *map)
{
    bool some = false;
    for (int32_t i = 0; map->mappers != NULL && i < map->count; i++)
        some |= map->mappers[i] != NULL;
    return some;
}

/*
 * Fills in the claim of a call. A call with a mapper claims all memory, because a mapper tells its
 * rows to libomptarget alone. A call without memory for its places claims all memory, too.
 */
static void collect(struct call *own, const struct rex_map *map, int number)
{
    own->claim = (struct rex_claim){.place = own->place, .number = number};
    own->claim.is_all = has_mappers(map) || !make_room(own, count_places(map));
    if (own->claim.is_all)
        own->place[own->claim.count++] =
            (struct rex_place){.begin = 0, .end = UINTPTR_MAX, .is_changed = true};
    for (int32_t i = 0; i < map->count && !own->claim.is_all; i++) {
        if (!is_mapped_by(map, i))
            continue;
        add_place(&own->claim, map->begin[i], map->sizes[i], (map->types[i] & REX_MAP_FROM) != 0);
        if (map->types[i] & REX_MAP_PTR_AND_OBJ)
            add_place(&own->claim, map->base[i], sizeof(void *), true);
    }
}

/* Notes whether the call may attach pointers, or map memory that its rows do not tell. */
static void note_unusual(enum rex_present_call call, const struct rex_map *map)
{
    bool mappers = has_mappers(map), attaches = mappers;
    if (call == REX_CALL_UPDATES)
        return;
    for (int32_t i = 0; i < map->count; i++)
        attaches |=
            rex_row_has(map->types[i], REX_MAP_PTR_AND_OBJ | TYPE_ATTACH) && is_mapped_by(map, i);
    if (attaches)
        __atomic_store_n(&pointers_are_attached, true, __ATOMIC_RELEASE);
    /* pointers that a launch attaches stay mapped */
    if (mappers || (attaches && call == REX_CALL_LAUNCHES))
        rex_mapped_unseen();
}

/*
 * Called if there is no memory for the claim of a call. No launch goes by the driver any more, and
 * the call waits for all calls at work.
 */
static void come_without_claim(int number)
{
    struct rex_place all = {.begin = 0, .end = UINTPTR_MAX};
    struct rex_claim claim = {
        .place = &all, .count = 1, .number = number, .call = REX_CALL_ENDS, .is_all = true};
    rex_stand_against_all(REX_AGAINST_NO_MEMORY);
    rex_present_pin(&claim);
    rex_present_unpin(&claim);
}

static bool is_unseen(const void *begin, size_t size, int number)
{
    struct rex_mapping found;
    return !rex_mapping_find(begin, size, number, &found) &&
           rex_memory_presence(begin, size, number) != REX_ABSENT;
}

/*
 * Whether a row lies in a mapping that is not in the index and may be larger. A call may end that
 * mapping by naming other parts of it, and the index would keep the row.
 */
static bool lies_in_unseen(const struct rex_map *map, int number)
{
    bool some = false;
    for (int32_t i = 0; i < map->count && !some && !rex_all_mappings_are_seen(); i++)
        some = is_mapped_by(map, i) && (is_unseen(map->begin[i], (size_t)map->sizes[i], number) ||
                                        ((map->types[i] & REX_MAP_PTR_AND_OBJ) &&
                                         is_unseen(map->base[i], sizeof(void *), number)));
    return some;
}

static void claim_rows(enum rex_present_call call, const struct rex_map *map, int number)
{
    struct call *own = rex_part_if_any(REX_PART_CALL);
    if ((own == NULL || own->depth == 0) && !are_in_force())
        return;
    note_unusual(call, map);
    if (own == NULL && (own = rex_part(REX_PART_CALL, sizeof *own)) == NULL)
        come_without_claim(number);
    if (own == NULL || own->depth++ > 0)
        return;
    rex_shelter_begin();
    collect(own, map, number);
    own->claim.call = call;
    rex_present_pin(&own->claim);
    own->lies_in_unseen = call == REX_CALL_BEGINS && lies_in_unseen(map, number);
}

/* Adds one row to the index, if it lies in one mapping and the index may have it. */
static void add_begun(const struct call *own, const void *begin, size_t size, int number)
{
    void *device = NULL;
    struct rex_mapping made = {(uintptr_t)begin, (uintptr_t)begin + size, number, 0};
    if (!rex_mapping_begun(begin, size, number) && size > 0 && !own->lies_in_unseen &&
        rex_memory_find(begin, size, number, &device) == REX_PRESENT_WHOLE)
        rex_mappings_add(&made, 1);
}

static void add_all_begun(const struct call *own, const struct rex_map *map, int number)
{
    for (int32_t i = 0; i < map->count; i++) {
        if (!is_mapped_by(map, i) || (map->mappers != NULL && map->mappers[i] != NULL))
            continue;
        add_begun(own, map->begin[i], (size_t)map->sizes[i], number);
        if (map->types[i] & REX_MAP_PTR_AND_OBJ)
            add_begun(own, map->base[i], sizeof(void *), number);
    }
}

static void give_back(enum rex_present_call call, const struct rex_map *map, int number)
{
    struct call *own = rex_part_if_any(REX_PART_CALL);
    if (own == NULL || own->depth == 0)
        return;
    if (call == REX_CALL_BEGINS)
        add_all_begun(own, map, number);
    if (--own->depth > 0)
        return;
    rex_present_unpin(&own->claim);
    free(own->more);
    own->more = NULL;
    rex_shelter_end();
}

void rex_present_enter(enum rex_present_call call, const struct rex_map *map, int64_t device)
{
    if (!rex_has_columns(map))
        return;
    int number = rex_openmp_number(device);
    claim_rows(call, map, number);
    if (call == REX_CALL_ENDS)
        rex_mappings_hide(map, number);
}

void rex_present_leave(enum rex_present_call call, const struct rex_map *map, int64_t device,
                       bool later)
{
    bool some = rex_has_columns(map);
    int number = some ? rex_openmp_number(device) : 0;
    if (some && call == REX_CALL_ENDS)
        rex_mappings_show(map, number, later);
    if (call == REX_CALL_ENDS)
        rex_mapping_next_generation();
    if (some)
        give_back(call, map, number);
}
