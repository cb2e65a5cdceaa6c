/*
 * mappings.c - the index of mappings: what data calls have mapped, from where to where, and whether
 * one row alone has.
 *
 * It lies in the order of devices and addresses, and no two mappings overlap. A call that may end
 * some has them hidden before it begins, and shown again where libomptarget still has them
 * afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/mappings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/log.h"
#include "memory/devicememory.h"
#include "omp/device.h"
#include "omp/forward.h"
#include "omp/mappingend.h"
#include "omp/memorycalls.h"
#include "omp/sender.h"

struct entry {
    struct rex_mapping mapping;
    uint32_t hidden; /* by that many rows of calls */
    uint32_t begun;  /* by that many; MANY: more, or nobody knows */
};
#define MANY 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct entry *entries;
    size_t count, room;
} all;

/* Most calls come while nothing is mapped. */
static bool is_empty(void)
{
    /*
     * Relaxed: a mapping that another thread is just adding is missed, as it would be a moment
     * earlier.
     */
    return __atomic_load_n(&all.count, __ATOMIC_RELAXED) == 0;
}

static void set_count(size_t count)
{
    /* Relaxed: written under the lock; who reads it without looks at nothing else. */
    __atomic_store_n(&all.count, count, __ATOMIC_RELAXED);
}

static void forget_in_child(void)
{
    rex_fork_renew(&lock);
    set_count(0);
}

REX_FORK_RENEWED(16, forget_in_child);

/* ---- asked ----------------------------------------------------------------------------------- */

static bool is_before(const struct rex_mapping *mapping, int number, uintptr_t at)
{
    return mapping->number != number ? mapping->number < number : mapping->end <= at;
}

/* The first mapping of device NUMBER that ends behind AT, or one that comes later. */
static size_t first_behind(int number, uintptr_t at)
{
    size_t low = 0;
    for (size_t count = all.count; count > 0;) {
        size_t half = count / 2;
        bool before = is_before(&all.entries[low + half].mapping, number, at);
        low += before ? half + 1 : 0;
        count = before ? count - half - 1 : half;
    }
    return low;
}

/* The entry at INDEX, which is no earlier than first_behind(), if it has bytes of WANTED. */
static struct entry *touching(size_t index, const struct rex_mapping *wanted)
{
    struct entry *entry = &all.entries[index];
    return index < all.count && entry->mapping.number == wanted->number &&
                   entry->mapping.begin < wanted->end
               ? entry
               : NULL;
}

static struct entry *first_touching(const struct rex_mapping *wanted)
{
    return touching(first_behind(wanted->number, wanted->begin), wanted);
}

static bool has_all(const struct entry *entry, const struct rex_mapping *wanted)
{
    return entry->hidden == 0 && entry->mapping.begin <= wanted->begin &&
           wanted->end <= entry->mapping.end;
}

static struct rex_mapping bytes(const void *begin, size_t size, int number)
{
    uintptr_t at = (uintptr_t)begin;
    return (struct rex_mapping){at, at + (size > 0 ? size : 1), number, 0};
}

bool rex_mapping_find(const void *begin, size_t size, int number, struct rex_mapping *found)
{
    struct rex_mapping wanted = bytes(begin, size, number);
    if (is_empty())
        return false;
    rex_lock(&lock);
    const struct entry *entry = first_touching(&wanted);
    bool is_found = entry != NULL && has_all(entry, &wanted);
    if (is_found)
        *found = entry->mapping;
    rex_unlock(&lock);
    return is_found;
}

bool rex_mapping_divides(const void *begin, size_t size, int number)
{
    struct rex_mapping wanted = bytes(begin, size, number);
    if (is_empty())
        return false;
    rex_lock(&lock);
    const struct entry *entry = first_touching(&wanted);
    bool divides = entry != NULL && entry->hidden == 0 && !has_all(entry, &wanted);
    rex_unlock(&lock);
    return divides;
}

static bool is_whole(const struct entry *entry, const struct rex_mapping *wanted)
{
    return entry->mapping.begin == wanted->begin && entry->mapping.end == wanted->end;
}

bool rex_mapping_is_ending(const void *begin, size_t size, int number, struct rex_mapping *found)
{
    struct rex_mapping wanted = bytes(begin, size, number);
    rex_lock(&lock);
    const struct entry *entry = first_touching(&wanted);
    bool ends =
        entry != NULL && is_whole(entry, &wanted) && entry->begun == 1 && entry->hidden == 1;
    if (ends)
        *found = entry->mapping;
    rex_unlock(&lock);
    return ends;
}

/* Rows often come in the order of their addresses: the one behind LAST is tried first. */
static size_t find_near(size_t last, int number, uintptr_t at)
{
    size_t next = last + 1;
    bool is_next = next < all.count && is_before(&all.entries[last].mapping, number, at) &&
                   !is_before(&all.entries[next].mapping, number, at);
    return is_next ? next : first_behind(number, at);
}

static void place_one(struct rex_place *place, int number, size_t *last)
{
    const struct rex_mapping wanted = {place->begin, place->end, number, 0};
    *last = find_near(*last, number, wanted.begin);
    const struct entry *entry = touching(*last, &wanted);
    place->is_mapped = entry != NULL;
    place->is_whole = entry != NULL && has_all(entry, &wanted);
    place->device = place->is_whole && entry->mapping.device != 0
                        ? entry->mapping.device + (place->begin - entry->mapping.begin)
                        : 0;
}

void rex_mappings_place(struct rex_place *place, size_t count, int number)
{
    size_t last = 0;
    rex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        place_one(&place[i], number, &last);
    rex_unlock(&lock);
}

void rex_mappings_widen(struct rex_place *place, int number)
{
    const struct rex_mapping wanted = {place->begin, place->end, number, 0};
    rex_lock(&lock);
    for (size_t i = first_behind(number, wanted.begin); touching(i, &wanted) != NULL; i++) {
        const struct rex_mapping *mapping = &all.entries[i].mapping;
        place->begin = mapping->begin < place->begin ? mapping->begin : place->begin;
        place->end = mapping->end > place->end ? mapping->end : place->end;
    }
    rex_unlock(&lock);
}

/* ---- changed --------------------------------------------------------------------------------- */

static bool make_room(size_t count)
{
    if (count <= all.room)
        return true;
    size_t room = count < 32 ? 64 : 2 * count;
    struct entry *entries = realloc(all.entries, room * sizeof *entries);
    if (entries == NULL)
        return false;
    all.entries = entries;
    all.room = room;
    return true;
}

static void take_out(size_t index, size_t count)
{
    memmove(&all.entries[index], &all.entries[index + count],
            (all.count - index - count) * sizeof *all.entries);
    set_count(all.count - count);
}

/*
 * Whether the index has room for MADE now. It lies in a mapping where another thread has made that
 * meanwhile, and gets none of its own. What else is known of the same memory has ended unseen.
 */
static bool is_new(const struct rex_mapping *made)
{
    size_t index = first_behind(made->number, made->begin), old = 0;
    const struct entry *entry = touching(index, made);
    if (entry != NULL && has_all(entry, made))
        return false;
    while (touching(index + old, made) != NULL)
        old++;
    if (old > 0)
        take_out(index, old);
    return true;
}

/* From the last to the first, so that each entry is moved once. */
static void merge(const struct rex_mapping *made, size_t count)
{
    size_t old = all.count, to = old + count;
    set_count(to);
    while (count > 0) {
        const struct rex_mapping *last = &made[count - 1];
        if (old > 0 && !is_before(&all.entries[old - 1].mapping, last->number, last->begin))
            all.entries[--to] = all.entries[--old];
        else
            all.entries[--to] = (struct entry){.mapping = made[--count], .begun = MANY};
    }
}

/* ---- ended ----------------------------------------------------------------------------------- */

/* What a row may end: what it names, or the pointer to that. */
static bool may_end(const struct rex_map *map, int32_t i, bool pointer, int number,
                    struct rex_mapping *wanted)
{
    *wanted = pointer ? bytes(map->base[i], sizeof(void *), number)
                      : bytes(map->begin[i], (size_t)map->sizes[i], number);
    return !(map->types[i] & (REX_MAP_LITERAL | REX_MAP_PRIVATE)) &&
           (!pointer || (map->types[i] & REX_MAP_PTR_AND_OBJ));
}

/* What libomptarget may still have of it is asked for from now on. */
static void forget(void)
{
    if (is_empty())
        return;
    rex_mapped_unseen();
    rex_lock(&lock);
    set_count(0);
    rex_unlock(&lock);
}

static void hide(const struct rex_map *map, int number)
{
    struct rex_mapping wanted;
    if (is_empty())
        return;
    rex_lock(&lock);
    for (int32_t i = 0; i < 2 * map->count; i++) {
        if (!may_end(map, i / 2, i % 2 != 0, number, &wanted))
            continue;
        for (size_t at = first_behind(number, wanted.begin); touching(at, &wanted) != NULL; at++)
            all.entries[at].hidden++;
    }
    rex_unlock(&lock);
}

bool rex_mapping_find_any(const struct rex_mapping *wanted, struct rex_mapping *found)
{
    rex_lock(&lock);
    const struct entry *entry = first_touching(wanted);
    if (entry != NULL)
        *found = entry->mapping;
    rex_unlock(&lock);
    return entry != NULL;
}

/*
 * What was hidden may be gone by now, and in its place another mapping, which nobody has hidden.
 * libomptarget is asked without the lock: to enter it may mean to wait for a registration.
 */
static void show_one(const struct rex_mapping *found, bool later)
{
    bool stays = !later && rex_runtime_omp()->is_present((const void *)found->begin, found->number);
    rex_lock(&lock);
    struct entry *entry = first_touching(found);
    if (entry != NULL && !stays)
        take_out((size_t)(entry - all.entries), 1);
    else if (entry != NULL && entry->hidden > 0)
        entry->hidden--;
    rex_unlock(&lock);
}

static void show_all(struct rex_mapping wanted, bool later)
{
    struct rex_mapping found;
    while (rex_mapping_find_any(&wanted, &found)) {
        show_one(&found, later);
        wanted.begin = found.end;
    }
}

/* FOUND leaves the index unless libomptarget still has it. */
static void look_again(const struct rex_mapping *found, bool later)
{
    if (!later && rex_runtime_omp()->is_present((const void *)found->begin, found->number))
        return;
    rex_mapped_unseen(); /* another thread may just have made it anew */
    rex_lock(&lock);
    struct entry *entry = first_touching(found);
    if (entry != NULL)
        take_out((size_t)(entry - all.entries), 1);
    rex_unlock(&lock);
}

/* Nobody has hidden it, who would look at it again. */
static bool is_in_sight(size_t index, int number)
{
    return index < all.count && all.entries[index].mapping.number == number &&
           all.entries[index].hidden == 0;
}

/*
 * A row of no length that lies in no mapping may yet have ended the next one on either side: LLVM
 * 15 to 24 look it up from the base of each on, which need not lie in it.
 */
static void look_beside(const struct rex_mapping *wanted, bool later)
{
    struct rex_mapping beside[2];
    size_t count = 0;
    rex_lock(&lock);
    size_t next = first_behind(wanted->number, wanted->begin);
    for (size_t i = next > 0 ? next - 1 : 0; touching(next, wanted) == NULL && i <= next; i++)
        if (is_in_sight(i, wanted->number))
            beside[count++] = all.entries[i].mapping;
    rex_unlock(&lock);
    while (count > 0)
        look_again(&beside[--count], later);
}

/*
 * With a mapper a row ends what nobody here knows of. One that deletes ends a mapping whole, which
 * may be larger than what is known of it where not all were seen.
 */
static bool ends_unknown(const struct rex_map *map)
{
    bool some = false, unseen = !rex_all_mappings_are_seen();
    for (int32_t i = 0; i < map->count; i++)
        some |= (map->mappers != NULL && map->mappers[i] != NULL) ||
                (unseen && (map->types[i] & REX_MAP_DELETE));
    return some;
}

static void show(const struct rex_map *map, int number, bool later)
{
    struct rex_mapping wanted;
    if (ends_unknown(map))
        forget();
    if (later && !is_empty())
        rex_mapped_unseen(); /* what stays, since it was begun more often */
    for (int32_t i = 0; i < map->count; i++)
        if (map->sizes[i] == 0 && map->begin[i] != NULL &&
            may_end(map, i, false, number, &wanted))
            look_beside(&wanted, later);
    for (int32_t i = 0; i < 2 * map->count && !is_empty(); i++)
        if (may_end(map, i / 2, i % 2 != 0, number, &wanted))
            show_all(wanted, later);
}

/* ---- made ------------------------------------------------------------------------------------ */

/* Where memory runs out, libomptarget is asked for what is missing. */
void rex_mappings_add(struct rex_mapping *made, size_t count)
{
    static const struct rex_end_watch watch = {hide, show, forget};
    size_t added = 0;
    if (count == 0 || !rex_forward_first() || rex_device_is_host(made->number))
        return;
    bool located = rex_sender_for(rex_against_all()) == REX_SENDER_DRIVER;
    for (size_t i = 0; i < count && located; i++)
        made[i].device = (uintptr_t)rex_memory_address((void *)made[i].begin, made[i].number);
    rex_ends_watch(&watch);
    rex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        if (is_new(&made[i]))
            made[added++] = made[i];
    if (make_room(all.count + added))
        merge(made, added);
    else
        rex_mapped_unseen();
    rex_unlock(&lock);
}

void rex_mapping_made(const void *begin, size_t size, int number)
{
    struct rex_mapping made = bytes(begin, size, number), wanted = made;
    rex_mappings_add(&made, 1);
    rex_lock(&lock);
    struct entry *entry = first_touching(&wanted);
    if (entry != NULL && is_whole(entry, &wanted))
        entry->begun = 0;
    rex_unlock(&lock);
}

bool rex_mapping_begun(const void *begin, size_t size, int number)
{
    struct rex_mapping wanted = bytes(begin, size, number);
    if (is_empty())
        return false;
    rex_lock(&lock);
    const struct entry *first = first_touching(&wanted);
    for (size_t at = first_behind(number, wanted.begin); touching(at, &wanted) != NULL; at++)
        all.entries[at].begun += all.entries[at].begun < MANY;
    bool is_found = first != NULL && has_all(first, &wanted);
    rex_unlock(&lock);
    return is_found;
}

/* ---- never ended ----------------------------------------------------------------------------- */

size_t rex_mappings_left(struct rex_mapping *first)
{
    size_t count = 0;
    if (is_empty() || pthread_mutex_trylock(&lock) != 0)
        return 0;
    for (size_t i = all.count; i > 0; i--) {
        const struct rex_mapping *mapping = &all.entries[i - 1].mapping;
        /* LLVM 14 to 22 never end the mapping of a pointer that a row attaches. */
        if (mapping->end - mapping->begin == sizeof(void *))
            continue;
        *first = *mapping;
        count++;
    }
    pthread_mutex_unlock(&lock);
    return count;
}
