/*
 * mappings.c - the index of mappings: what data calls have mapped, from where to where, and whether
 * one row alone has mapped it.
 *
 * Entries are in the order of devices and addresses, and do not overlap. A call that may end
 * mappings hides their entries before it begins. Afterwards entries that libomptarget still has are
 * shown again.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/mappings.h"

#include "base/process.h"
#include "base/log.h"
#include "omp/mappingindex.h"
#include "omp/device.h"
#include "omp/sender.h"
#include "rex/queue.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rex_index all;

static void forget_in_child(void)
{
    rex_fork_renew(&lock);
    rex_index_clear(&all);
}

REX_FORK_RENEWED(15, forget_in_child);

void rex_present_lock(void)
{
    rex_lock(&lock);
}

void rex_present_unlock(void)
{
    rex_unlock(&lock);
}

void rex_present_wait(pthread_cond_t *condition)
{
    pthread_cond_wait(condition, &lock);
}

/* ---- look-ups in the index ------------------------------------------------------------------- */

static struct rex_mapping bytes(const void *begin, size_t size, int number)
{
    uintptr_t at = (uintptr_t)begin;
    return (struct rex_mapping){at, at + (size > 0 ? size : 1), number, 0};
}

bool rex_mapping_find(const void *begin, size_t size, int number, struct rex_mapping *found)
{
    struct rex_mapping wanted = bytes(begin, size, number);
    if (rex_index_is_empty(&all))
        return false;
    rex_lock(&lock);
    const struct rex_index_entry *entry = rex_index_first(&all, &wanted);
    bool is_found = entry != NULL && rex_index_has_all(entry, &wanted);
    if (is_found)
        *found = entry->mapping;
    rex_unlock(&lock);
    return is_found;
}

bool rex_mapping_divides(const void *begin, size_t size, int number)
{
    struct rex_mapping wanted = bytes(begin, size, number);
    if (rex_index_is_empty(&all))
        return false;
    rex_lock(&lock);
    const struct rex_index_entry *entry = rex_index_first(&all, &wanted);
    bool divides = entry != NULL && entry->hidden == 0 && !rex_index_has_all(entry, &wanted);
    rex_unlock(&lock);
    return divides;
}

bool rex_mapping_is_ending(const void *begin, size_t size, int number, struct rex_mapping *found)
{
    struct rex_mapping wanted = bytes(begin, size, number);
    rex_lock(&lock);
    const struct rex_index_entry *entry = rex_index_first(&all, &wanted);
    bool ends = entry != NULL && rex_index_is_whole(entry, &wanted) && entry->begun == 1 &&
                entry->hidden == 1;
    if (ends)
        *found = entry->mapping;
    rex_unlock(&lock);
    return ends;
}

static void place_one(struct rex_place *place, int number, size_t *last)
{
    const struct rex_mapping wanted = {place->begin, place->end, number, 0};
    *last = rex_index_near(&all, *last, number, wanted.begin);
    const struct rex_index_entry *entry = rex_index_touching(&all, *last, &wanted);
    place->is_mapped = entry != NULL;
    place->is_whole = entry != NULL && rex_index_has_all(entry, &wanted);
    place->device = place->is_whole && entry->mapping.device != 0
                        ? entry->mapping.device + (place->begin - entry->mapping.begin)
                        : 0;
}

void rex_mappings_place(struct rex_place *place, size_t count, int number)
{
    size_t last = 0;
    for (size_t i = 0; i < count; i++)
        place_one(&place[i], number, &last);
}

void rex_mappings_widen(struct rex_place *place, int number)
{
    const struct rex_mapping wanted = {place->begin, place->end, number, 0};
    for (size_t i = rex_index_behind(&all, number, wanted.begin);
         rex_index_touching(&all, i, &wanted) != NULL; i++) {
        const struct rex_mapping *mapping = &all.entries[i].mapping;
        place->begin = mapping->begin < place->begin ? mapping->begin : place->begin;
        place->end = mapping->end > place->end ? mapping->end : place->end;
    }
}

/* ---- questions to libomptarget --------------------------------------------------------------- */

/* The device address of memory that omp_target_is_present() has found. */
static void *address_of_present(const void *address, int number)
{
    if (number == rex_devices_known()) /* the host; LLVM 16 prints an error for it */
        return (void *)(uintptr_t)address;
    return rex_runtime_omp()->mapped_pointer(address, number);
}

void *rex_memory_address(const void *address, int number)
{
    return rex_runtime_omp()->is_present(address, number) ? address_of_present(address, number)
                                                          : NULL;
}

static enum rex_presence ask_once(const void *address, size_t size, int number, void **device)
{
    const struct rex_omp *omp = rex_runtime_omp();
    /* Computed with integers, because a row may reach past the end of the address space. */
    uintptr_t distance = size > 0 ? size - 1 : 0;
    const void *last = (const void *)((uintptr_t)address + distance);
    int has_first = omp->is_present(address, number) != 0,
        has_last = distance == 0 ? has_first : omp->is_present(last, number) != 0;
    if (!has_first && !has_last)
        return REX_ABSENT;
    if (!has_first || !has_last)
        return REX_PRESENT_IN_PART;
    /*
     * Two mappings that are neighbours on the host and on the device look like one, unless the
     * index knows where one of them ends.
     */
    void *on_device = address_of_present(address, number);
    if (on_device == NULL)
        return REX_ABSENT; /* the mapping has ended meanwhile */
    if (distance > 0 &&
        ((uintptr_t)address_of_present(last, number) - (uintptr_t)on_device != distance ||
         rex_mapping_divides(address, size, number)))
        return REX_PRESENT_IN_PART;
    *device = on_device;
    return REX_PRESENT_WHOLE;
}

/* Ask again, because another thread may begin or end the mapping between two questions. */
#define TRIES 8

enum rex_presence rex_memory_find(const void *address, size_t size, int number, void **device)
{
    struct rex_mapping known;
    if (rex_mapping_find(address, size, number, &known) &&
        (*device = address_of_present(address, number)) != NULL)
        return REX_PRESENT_WHOLE;
    enum rex_presence presence = REX_PRESENT_IN_PART;
    for (int i = 0; i < TRIES && presence == REX_PRESENT_IN_PART; i++)
        presence = ask_once(address, size, number, device);
    return presence;
}

enum rex_presence rex_memory_presence(const void *address, size_t size, int number)
{
    void *device;
    struct rex_mapping known;
    return rex_mapping_find(address, size, number, &known)
               ? REX_PRESENT_WHOLE
               : rex_memory_find(address, size, number, &device);
}

/* ---- mappings that the index lacks ----------------------------------------------------------- */

uint64_t rex_mapping_generation = 1;
static bool some_are_unseen;

void rex_mapping_next_generation(void)
{
    __atomic_fetch_add(&rex_mapping_generation, 1, __ATOMIC_RELEASE);
}

void rex_mapped_unseen(void)
{
    __atomic_store_n(&some_are_unseen, true, __ATOMIC_RELEASE);
}

bool rex_all_mappings_are_seen(void)
{
    return !__atomic_load_n(&some_are_unseen, __ATOMIC_ACQUIRE);
}

/* Empty the index; later look-ups ask libomptarget. */
static void forget_all(void)
{
    if (rex_index_is_empty(&all))
        return;
    rex_mapped_unseen();
    rex_lock(&lock);
    rex_index_clear(&all);
    rex_unlock(&lock);
}

void rex_mapping_ended_unseen(void)
{
    forget_all();
    rex_mapping_next_generation();
}

void rex_mappings_changed(void)
{
    rex_mapped_unseen();
    rex_mapping_ended_unseen();
}

/* ---- ended ----------------------------------------------------------------------------------- */

/* The memory that row I may end: the row's own, or, if POINTER, the pointer that it attaches. */
static bool may_end(const struct rex_map *map, int32_t i, bool pointer, int number,
                    struct rex_mapping *wanted)
{
    *wanted = pointer ? bytes(map->base[i], sizeof(void *), number)
                      : bytes(map->begin[i], (size_t)map->sizes[i], number);
    return !(map->types[i] & (REX_MAP_LITERAL | REX_MAP_PRIVATE)) &&
           (!pointer || (map->types[i] & REX_MAP_PTR_AND_OBJ));
}

void rex_mappings_hide(const struct rex_map *map, int number)
{
    struct rex_mapping wanted;
    if (rex_index_is_empty(&all))
        return;
    rex_lock(&lock);
    for (int32_t i = 0; i < 2 * map->count; i++) {
        if (!may_end(map, i / 2, i % 2 != 0, number, &wanted))
            continue;
        for (size_t at = rex_index_behind(&all, number, wanted.begin);
             rex_index_touching(&all, at, &wanted) != NULL; at++)
            all.entries[at].hidden++;
    }
    rex_unlock(&lock);
}

bool rex_mapping_find_any(const struct rex_mapping *wanted, struct rex_mapping *found)
{
    rex_lock(&lock);
    const struct rex_index_entry *entry = rex_index_first(&all, wanted);
    if (entry != NULL)
        *found = entry->mapping;
    rex_unlock(&lock);
    return entry != NULL;
}

/*
 * Shows the entry at FOUND, or removes it if libomptarget has no such mapping any more. The hidden
 * mapping may be gone, with another one in its place that is not hidden. libomptarget is asked
 * without the lock, because the call may wait for a registration.
 */
static void show_one(const struct rex_mapping *found, bool later)
{
    bool stays = !later && rex_runtime_omp()->is_present((const void *)found->begin, found->number);
    rex_lock(&lock);
    struct rex_index_entry *entry = rex_index_first(&all, found);
    if (entry != NULL && !stays)
        rex_index_take_out(&all, entry);
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

/* Removes the entry of FOUND unless libomptarget still has the mapping. */
static void look_again(const struct rex_mapping *found, bool later)
{
    if (!later && rex_runtime_omp()->is_present((const void *)found->begin, found->number))
        return;
    rex_mapped_unseen(); /* another thread may just have mapped it again */
    rex_lock(&lock);
    struct rex_index_entry *entry = rex_index_first(&all, found);
    if (entry != NULL)
        rex_index_take_out(&all, entry);
    rex_unlock(&lock);
}

/* Whether the entry is on device NUMBER and no call hides it; show_one() looks at hidden ones. */
static bool is_in_sight(size_t index, int number)
{
    return index < all.count && all.entries[index].mapping.number == number &&
           all.entries[index].hidden == 0;
}

/*
 * A row of size 0 that lies in no mapping may have ended the next mapping on either side. LLVM 15
 * to 24 search from each mapping's base, which need not lie in the mapping.
 */
static void look_beside(const struct rex_mapping *wanted, bool later)
{
    struct rex_mapping beside[2];
    size_t count = 0;
    rex_lock(&lock);
    size_t next = rex_index_behind(&all, wanted->number, wanted->begin);
    for (size_t i = next > 0 ? next - 1 : 0;
         rex_index_touching(&all, next, wanted) == NULL && i <= next; i++)
        if (is_in_sight(i, wanted->number))
            beside[count++] = all.entries[i].mapping;
    rex_unlock(&lock);
    while (count > 0)
        look_again(&beside[--count], later);
}

/*
 * Whether MAP may end mappings that its rows do not tell. A mapper ends mappings of its own. A row
 * that deletes ends a whole mapping; the index may know only a part of it unless all mappings are
 * seen.
 */
static bool ends_unknown(const struct rex_map *map)
{
    bool some = false, unseen = !rex_all_mappings_are_seen();
    for (int32_t i = 0; i < map->count; i++)
        some |= (map->mappers != NULL && map->mappers[i] != NULL) ||
                (unseen && (map->types[i] & REX_MAP_DELETE));
    return some;
}

void rex_mappings_show(const struct rex_map *map, int number, bool later)
{
    struct rex_mapping wanted;
    if (ends_unknown(map))
        forget_all();
    if (rex_index_is_empty(&all))
        return;
    if (later)
        rex_mapped_unseen(); /* entries go, though mappings with more references stay */
    for (int32_t i = 0; i < map->count; i++)
        if (map->sizes[i] == 0 && map->begin[i] != NULL && may_end(map, i, false, number, &wanted))
            look_beside(&wanted, later);
    for (int32_t i = 0; i < 2 * map->count && !rex_index_is_empty(&all); i++)
        if (may_end(map, i / 2, i % 2 != 0, number, &wanted))
            show_all(wanted, later);
}

/* ---- made ------------------------------------------------------------------------------------ */

/* If memory runs out, later look-ups ask libomptarget. */
void rex_mappings_add(struct rex_mapping *made, size_t count)
{
    if (count == 0 || (rex_against_all() & REX_AGAINST_UNSEEN_CALLS) ||
        rex_device_is_host(made->number))
        return;
    bool located = rex_sender_for(rex_against_all()) == REX_SENDER_DRIVER;
    for (size_t i = 0; i < count && located; i++)
        made[i].device = (uintptr_t)rex_memory_address((void *)made[i].begin, made[i].number);
    rex_lock(&lock);
    if (!rex_index_add(&all, made, count))
        rex_mapped_unseen();
    rex_unlock(&lock);
}

void rex_mapping_made(const void *begin, size_t size, int number)
{
    struct rex_mapping made = bytes(begin, size, number), wanted = made;
    rex_mappings_add(&made, 1);
    rex_lock(&lock);
    struct rex_index_entry *entry = rex_index_first(&all, &wanted);
    if (entry != NULL && rex_index_is_whole(entry, &wanted))
        entry->begun = 0;
    rex_unlock(&lock);
}

bool rex_mapping_begun(const void *begin, size_t size, int number)
{
    struct rex_mapping wanted = bytes(begin, size, number);
    if (rex_index_is_empty(&all))
        return false;
    rex_lock(&lock);
    const struct rex_index_entry *first = rex_index_first(&all, &wanted);
    for (size_t at = rex_index_behind(&all, number, wanted.begin);
         rex_index_touching(&all, at, &wanted) != NULL; at++)
        all.entries[at].begun += all.entries[at].begun < REX_INDEX_MANY;
    bool is_found = first != NULL && rex_index_has_all(first, &wanted);
    rex_unlock(&lock);
    return is_found;
}

/* ---- never ended ----------------------------------------------------------------------------- */

size_t rex_mappings_left(struct rex_mapping *first)
{
    size_t count = 0;
    if (rex_index_is_empty(&all) || pthread_mutex_trylock(&lock) != 0)
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
