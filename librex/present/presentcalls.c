/*
 * presentcalls.c - calls of libomptarget enter the present table and leave it: what their rows use.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "present/presentcalls.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/process.h"
#include "omp/backend.h"
#include "omp/columns.h"
#include "omp/device.h"
#include "present/lookup.h"
#include "present/mappings.h"

/* ---- pointers that are attached -------------------------------------------------------------- */

static bool pointers_are_attached;

bool rex_pointers_are_attached(void)
{
    return __atomic_load_n(&pointers_are_attached, __ATOMIC_ACQUIRE);
}

/* ---- bases that are apart from their rows ---------------------------------------------------- */

static bool bases_are_apart;

bool rex_bases_are_apart(void)
{
    return __atomic_load_n(&bases_are_apart, __ATOMIC_ACQUIRE);
}

static void note_bases(enum rex_present_call call, const struct rex_map *map)
{
    bool are_apart = false;
    for (int32_t i = 0; call == REX_CALL_BEGINS && i < map->count; i++)
        are_apart |= rex_base_is_apart(map, i) || (map->mappers != NULL && map->mappers[i] != NULL);
    if (are_apart)
        __atomic_store_n(&bases_are_apart, true, __ATOMIC_RELEASE);
}

/* ---- calls of libomptarget ------------------------------------------------------------------- */

#define TYPE_ATTACH INT64_C(0x4000) /* map type of clang 22: attach a pointer, the row's base */
#define ON_STACK 32                 /* ranges without an allocation; a row has at most two */

/* The outermost call that a thread is in; libomptarget may call itself through the forwarders. */
struct call {
    unsigned depth;
    void *const *begin; /* its column; libomptarget passes the same one on */
    struct rex_range_lock ranges;
    struct rex_range range[ON_STACK], *more; /* an array for more ranges, or NULL */
    bool has_mapper;
};

bool rex_present_is_entered(void)
{
    const struct call *own = rex_part_if_any(REX_PART_CALL);
    return own != NULL && own->depth > 0;
}

/* These change libomptarget's count by one for each call with the row. */
#define COUNTED_BITS                                                                             \
    (REX_MAP_TOFROM | REX_MAP_ALWAYS | REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT | REX_MAP_CLOSE | \
     REX_MAP_PRESENT | REX_MAP_RETURN_PARAM)

/*
 * A member does not count, its parent does; but one that deletes ends the whole mapping. If the
 * base does not lie in the row, a row of no length elsewhere may count the mapping, too.
 */
static enum rex_counts counts_of(const struct rex_map *map, int32_t i)
{
    int64_t type = map->types[i];
    if (type & REX_MAP_DELETE)
        return REX_COUNTS_UNKNOWN;
    if ((type & REX_MAP_MEMBER_OF_MASK) && !(type & REX_MAP_PTR_AND_OBJ))
        return REX_COUNTS_NONE;
    return (type & ~COUNTED_BITS) == 0 && map->sizes[i] > 0 && !rex_base_is_apart(map, i)
               ? REX_COUNTS_ONE
               : REX_COUNTS_UNKNOWN;
}

static void add_row(struct rex_range_lock *ranges, const struct rex_map *map, int32_t i)
{
    int64_t type = map->types[i], size = map->sizes[i];
    ranges->range[ranges->count++] =
        (struct rex_range){.begin = (uintptr_t)map->begin[i],
                           .end = rex_end_of(map->begin[i], (size_t)size),
                           .row = i,
                           .counts = counts_of(map, i),
                           .is_changed = (type & REX_MAP_FROM) != 0,
                           .is_empty = size == 0};
    if (type & REX_MAP_PTR_AND_OBJ)
        ranges->range[ranges->count++] =
            (struct rex_range){.begin = (uintptr_t)map->base[i],
                               .end = rex_end_of(map->base[i], sizeof(void *)),
                               .counts = REX_COUNTS_UNKNOWN,
                               .is_changed = true,
                               .attaches = true};
}

/*
 * Fills in the ranges of a call. A call with a mapper locks all memory, because a mapper tells its
 * rows to libomptarget alone. A call without memory for its ranges locks all memory, too.
 */
static void collect(struct call *own, enum rex_present_call call, const struct rex_map *map,
                    int number)
{
    struct rex_range_lock *ranges = &own->ranges;
    size_t most = 2 * (size_t)map->count;
    own->more = most > ON_STACK ? malloc(most * sizeof *own->more) : NULL;
    own->begin = map->begin;
    own->has_mapper = false;
    *ranges = (struct rex_range_lock){.range = own->more != NULL ? own->more : own->range,
                                      .number = number,
                                      .call = call,
                                      .is_all = most > ON_STACK && own->more == NULL};
    if (ranges->is_all)
        rex_mapped_unseen();
    for (int32_t i = 0; i < map->count; i++) {
        own->has_mapper |= map->mappers != NULL && map->mappers[i] != NULL;
        if ((map->types[i] & REX_MAP_NOT_MAPPED) || map->sizes[i] < 0 ||
            (map->sizes[i] == 0 && map->begin[i] == NULL))
            continue;
        ranges->types |= map->types[i];
        if (!ranges->is_all)
            add_row(ranges, map, i);
    }
    ranges->is_all |= own->has_mapper;
    if (ranges->is_all) {
        ranges->count = 1;
        ranges->range[0] = (struct rex_range){
            .end = UINTPTR_MAX, .counts = REX_COUNTS_UNKNOWN, .is_changed = true};
    }
}

/*
 * Notes that a call attaches pointers. The table marks the memory of those that its ranges tell.
 * Pointers that a launch attaches stay mapped.
 */
static void note_attached(const struct call *own)
{
    const struct rex_range_lock *ranges = &own->ranges;
    if (ranges->is_all || (ranges->types & TYPE_ATTACH))
        __atomic_store_n(&pointers_are_attached, true, __ATOMIC_RELEASE);
    if (own->has_mapper ||
        (ranges->call == REX_CALL_LAUNCHES && (ranges->types & REX_MAP_PTR_AND_OBJ)))
        rex_mapped_unseen();
}

/*
 * Called if there is no memory for the ranges of a call. No launch goes by the driver any more, and
 * the call waits for all calls at work.
 */
static void lock_all(int number)
{
    struct rex_range all = {.begin = 0, .end = UINTPTR_MAX, .counts = REX_COUNTS_UNKNOWN};
    struct rex_range_lock ranges = {
        .range = &all, .count = 1, .number = number, .call = REX_CALL_ENDS, .is_all = true};
    rex_add_process_reasons(REX_REASON_NO_MEMORY);
    rex_mapped_unseen();
    rex_present_pin(&ranges);
    rex_present_unpin(&ranges);
}

/* ---- questions to libomptarget after a call -------------------------------------------------- */

/*
 * The entry of END in RANGE that begins at *AT, if any, stays or goes. *AT becomes the begin of the
 * next one.
 */
static bool settle_entry(struct rex_present_table *table, const struct rex_range_lock *end,
                         const struct rex_range *range, uintptr_t *at, bool stays)
{
    struct rex_entry *entry;
    uintptr_t next = 0;
    pthread_mutex_lock(&table->lock);
    for (size_t i = rex_entries_behind(table, *at > range->begin ? *at : range->begin);
         next == 0 && (entry = rex_entry_touching(table, i, range->end)) != NULL; i++) {
        if (entry->owner != end)
            continue;
        if (entry->begin == *at) {
            entry->is_gone |= !stays && !entry->is_loose;
            entry->is_kept |= stays && entry->is_attached;
            entry->refs = REX_REFS_UNKNOWN;
            /* A launch that the end has not waited for may hold it, and nobody looks later. */
            if (stays && rex_process_reasons() != 0)
                rex_entries_loosen(table, entry->begin, entry->end);
        } else
            next = entry->begin;
    }
    pthread_mutex_unlock(&table->lock);
    *at = next;
    return next != 0;
}

static void settle_all(struct rex_present_table *table, const struct rex_range_lock *end)
{
    for (size_t i = 0; i < end->count; i++) {
        uintptr_t at = 0;
        bool stays = false;
        while (settle_entry(table, end, &end->range[i], &at, stays))
            stays = rex_runtime_omp()->is_present((const void *)at, end->number);
    }
}

/* Copies the first entry from AT on that no call but END has for itself. */
static bool find_unowned(struct rex_present_table *table, const struct rex_range_lock *end,
                         uintptr_t at, struct rex_entry *found)
{
    const struct rex_entry *entry;
    bool is_found = false;
    pthread_mutex_lock(&table->lock);
    for (size_t i = rex_entries_behind(table, at);
         !is_found && (entry = rex_entry_touching(table, i, UINTPTR_MAX)) != NULL; i++) {
        is_found = (entry->owner == NULL || entry->owner == end) && !entry->is_gone;
        *found = *entry;
    }
    pthread_mutex_unlock(&table->lock);
    return is_found;
}

/*
 * After an end that may have ended any mapping: libomptarget is asked about each entry. An entry
 * that stays has a count that is not known.
 */
static void settle_table(struct rex_present_table *table, const struct rex_range_lock *end)
{
    struct rex_entry asked;
    for (uintptr_t at = 0; find_unowned(table, end, at, &asked); at = asked.end) {
        const struct rex_omp *omp = rex_runtime_omp();
        bool stays = omp->is_present((const void *)asked.begin, end->number) &&
                     omp->is_present((const void *)(asked.end - 1), end->number);
        pthread_mutex_lock(&table->lock);
        struct rex_entry *entry =
            rex_entry_touching(table, rex_entries_behind(table, asked.begin), asked.end);
        if (entry != NULL && entry->born == asked.born) {
            entry->is_gone |= !stays && !entry->is_loose;
            entry->refs = REX_REFS_UNKNOWN;
        }
        pthread_mutex_unlock(&table->lock);
    }
    pthread_mutex_lock(&table->lock);
    rex_entries_clean(table);
    pthread_mutex_unlock(&table->lock);
}

/* Copies the begins of the mappings on both sides of RANGE, if it lies in none; their number. */
static size_t beside(struct rex_present_table *table, const struct rex_range *range,
                     uintptr_t begins[2])
{
    size_t count = 0;
    pthread_mutex_lock(&table->lock);
    size_t next = rex_entries_behind(table, range->begin);
    for (size_t i = next > 0 ? next - 1 : 0;
         rex_entry_touching(table, next, range->end) == NULL && i <= next && i < table->count; i++)
        if (rex_entry_is_settled(&table->entries[i]))
            begins[count++] = table->entries[i].begin;
    pthread_mutex_unlock(&table->lock);
    return count;
}

/* A row of no length may have ended a mapping beside it, without its users. */
static void look_beside(struct rex_present_table *table, const struct rex_range_lock *end)
{
    for (size_t i = 0; i < end->count; i++) {
        uintptr_t begins[2];
        size_t count = end->range[i].is_empty ? beside(table, &end->range[i], begins) : 0;
        while (count-- > 0) {
            if (rex_runtime_omp()->is_present((const void *)begins[count], end->number))
                continue;
            rex_mapped_unseen(); /* another thread may just have mapped it again */
            pthread_mutex_lock(&table->lock);
            struct rex_entry *entry = rex_entry_touching(
                table, rex_entries_behind(table, begins[count]), begins[count] + 1);
            if (entry != NULL)
                entry->is_gone = true;
            rex_entries_clean(table);
            pthread_mutex_unlock(&table->lock);
        }
    }
}

/* ---- loose memory ---------------------------------------------------------------------------- */

/* Finds the first loose entry that no call uses from *AT on, and before END. */
static bool find_loose(struct rex_present_table *table, uintptr_t at, uintptr_t end,
                       struct rex_entry *found, unsigned *changes)
{
    const struct rex_entry *entry;
    bool is_found = false;
    pthread_mutex_lock(&table->lock);
    *changes = table->loosened + table->begun;
    for (size_t i = rex_entries_behind(table, at);
         !is_found && (entry = rex_entry_touching(table, i, end)) != NULL; i++)
        if (entry->is_loose && entry->users == 0 && entry->owner == NULL) {
            *found = *entry;
            is_found = true;
        }
    pthread_mutex_unlock(&table->lock);
    return is_found;
}

/* Takes out ENTRY unless memory has become loose, or a begin has used some, since find_loose(). */
static void take_out(struct rex_present_table *table, const struct rex_entry *gone,
                     unsigned changes)
{
    pthread_mutex_lock(&table->lock);
    struct rex_entry *entry =
        rex_entry_touching(table, rex_entries_behind(table, gone->begin), gone->end);
    if (table->loosened + table->begun == changes && entry != NULL && entry->born == gone->born &&
        entry->users == 0 && entry->owner == NULL) {
        entry->is_gone = true;
        rex_entries_clean(table);
    }
    pthread_mutex_unlock(&table->lock);
}

/* Before a call maps its memory: what of it is loose, and libomptarget has no more, is absent. */
static void look_at_loose(struct rex_present_table *table, const struct rex_range_lock *begin)
{
    struct rex_entry entry;
    unsigned changes;
    for (size_t i = 0; i < begin->count; i++)
        for (uintptr_t at = begin->range[i].begin;
             find_loose(table, at, begin->range[i].end, &entry, &changes); at = entry.end)
            if (rex_memory_presence((const void *)entry.begin, entry.end - entry.begin,
                                    begin->number) == REX_ABSENT)
                take_out(table, &entry, changes);
}

/*
 * Each call with other memory leaves an entry that no later one looks at. The more entries there
 * are, the less often all are looked at, so that a call looks at three on average.
 */
static void look_at_all_loose(struct rex_present_table *table, int number)
{
    struct rex_range all = {.begin = 0, .end = UINTPTR_MAX};
    struct rex_range_lock ranges = {.range = &all, .count = 1, .number = number};
    pthread_mutex_lock(&table->lock);
    bool is_time = table->loosened >= table->look_at;
    pthread_mutex_unlock(&table->lock);
    if (!is_time)
        return;
    look_at_loose(table, &ranges);
    pthread_mutex_lock(&table->lock);
    table->look_at = table->loosened + REX_LOOSE_FEW + (unsigned)table->count / 2;
    pthread_mutex_unlock(&table->lock);
}

/*
 * The call may return before it is done, or has failed: its memory is loose, and so is what its
 * rows of no length have counted. A call that is to be over later has mapped its memory already:
 * what is absent is over. The driver launches no more if the call does not tell its memory,
 * or if there is no memory for the entries.
 */
static void loosen(struct rex_present_table *table, const struct rex_range_lock *ranges)
{
    bool done = !ranges->is_all;
    look_at_all_loose(table, ranges->number);
    for (size_t i = 0; i < ranges->count && done; i++) {
        const struct rex_range *range = &ranges->range[i];
        uintptr_t begins[2];
        size_t count = range->is_empty ? beside(table, range, begins) : 0;
        bool is_over = !range->is_mapped && !range->is_new &&
                       rex_memory_presence((const void *)range->begin, range->end - range->begin,
                                           ranges->number) == REX_ABSENT;
        pthread_mutex_lock(&table->lock);
        if (!range->is_empty && !is_over)
            done = rex_entries_loosen(table, range->begin, range->end);
        while (count-- > 0)
            done &= rex_entries_loosen(table, begins[count], begins[count] + 1);
        pthread_mutex_unlock(&table->lock);
    }
    if (!done)
        rex_add_process_reasons(ranges->is_all ? REX_REASON_NOT_WAITED : REX_REASON_NO_MEMORY);
}

/* ---- in and out ------------------------------------------------------------------------------ */

/*
 * Whether a row lies in a mapping that has no entry and may be larger. A call may end that mapping
 * by naming other parts of it, and the table would keep the row.
 */
static bool lies_in_unseen(const struct rex_range_lock *ranges)
{
    bool some = false;
    void *device;
    for (size_t i = 0; i < ranges->count && !some; i++) {
        const struct rex_range *range = &ranges->range[i];
        some =
            range->is_new && rex_memory_find((const void *)range->begin, range->end - range->begin,
                                             ranges->number, &device) != REX_ABSENT;
    }
    return some;
}

/*
 * A call inside of another one: libomptarget's own, or by a mapper or a function for the log, whose
 * rows the table does not follow.
 */
static bool is_foreign(const struct call *own, const struct rex_map *map, int number)
{
    return map->count > 0 && (own->begin != map->begin || own->ranges.number != number);
}

static void enter_nested(struct call *own, enum rex_present_call call, const struct rex_map *map,
                         int number)
{
    own->depth++;
    if (!is_foreign(own, map, number))
        return;
    note_bases(call, map);
    rex_mapped_unseen();
    for (int32_t i = 0; i < map->count && call != REX_CALL_UPDATES; i++)
        if ((map->mappers != NULL && map->mappers[i] != NULL) ||
            (map->types[i] & (REX_MAP_PTR_AND_OBJ | TYPE_ATTACH)))
            __atomic_store_n(&pointers_are_attached, true, __ATOMIC_RELEASE);
}

static bool is_any_loose(const struct rex_range_lock *ranges)
{
    bool some = false;
    for (size_t i = 0; i < ranges->count; i++)
        some |= ranges->range[i].is_loose;
    return some;
}

#define TRIES 8

/*
 * Pins a call that maps after a look at its loose memory. Looks again if memory has become loose in
 * between.
 */
static void pin_looked_at(struct rex_present_table *table, struct rex_range_lock *ranges)
{
    for (int i = 0; i < TRIES; i++) {
        /* Relaxed: read once more under the lock. */
        unsigned loosened = __atomic_load_n(&table->loosened, __ATOMIC_RELAXED);
        if (loosened != 0)
            look_at_loose(table, ranges);
        rex_present_pin(ranges);
        if (loosened == __atomic_load_n(&table->loosened, __ATOMIC_RELAXED) ||
            !is_any_loose(ranges) || i + 1 == TRIES)
            return;
        ranges->is_refused = true;
        rex_present_unpin(ranges);
        ranges->is_refused = false;
        for (size_t j = 0; j < ranges->count; j++)
            ranges->range[j].is_new = ranges->range[j].is_shared = false;
    }
}

const struct rex_range_lock *rex_present_enter(enum rex_present_call call,
                                               const struct rex_map *map, int number)
{
    struct call *own = rex_part_if_any(REX_PART_CALL);
    if (own != NULL && own->depth > 0) {
        enter_nested(own, call, map, number);
        return NULL;
    }
    note_bases(call, map);
    struct rex_present_table *table = rex_present_table(number);
    if (table == NULL || (rex_process_reasons() & REX_REASON_UNSEEN_CALLS))
        return NULL;
    if (own == NULL && (own = rex_part(REX_PART_CALL, sizeof *own)) == NULL) {
        lock_all(number);
        return NULL;
    }
    own->depth++;
    rex_shelter_begin();
    collect(own, call, map, number);
    if (call != REX_CALL_UPDATES &&
        (own->has_mapper || (own->ranges.types & (REX_MAP_PTR_AND_OBJ | TYPE_ATTACH))))
        note_attached(own);
    if (call == REX_CALL_BEGINS || call == REX_CALL_LAUNCHES)
        pin_looked_at(table, &own->ranges);
    else
        rex_present_pin(&own->ranges);
    own->ranges.is_unseen =
        call == REX_CALL_BEGINS && !rex_all_mappings_are_seen() && lies_in_unseen(&own->ranges);
    rex_thread.holds++; /* as rex_log_hold(), within the shelter */
    return &own->ranges;
}

/*
 * Whether END may end mappings that its ranges do not tell. A lock of all memory has no ranges of
 * its own. A row that deletes ends a whole mapping; the table may know only a part of it unless all
 * mappings are seen.
 */
static bool ends_unknown(const struct rex_range_lock *end)
{
    return end->is_all || ((end->types & REX_MAP_DELETE) && !rex_all_mappings_are_seen());
}

static void settle_end(struct rex_range_lock *end)
{
    struct rex_present_table *table = rex_present_table(end->number);
    if (ends_unknown(end))
        settle_table(table, end);
    else
        settle_all(table, end);
    look_beside(table, end);
}

/*
 * Asks libomptarget where the memory lies that the begin has made entries for. On the host all
 * memory is present, and has no entry. LLVM 19 and later know the number of devices only when
 * something is present.
 */
static void settle_begin(struct rex_range_lock *begin)
{
    const struct rex_omp *omp = rex_runtime_omp();
    bool by_driver = rex_process_reasons() == 0, is_device = begin->number < rex_devices_known();
    for (size_t i = 0; i < begin->count; i++) {
        struct rex_range *range = &begin->range[i];
        const void *at = (const void *)range->begin;
        if (begin->is_unseen || !range->is_new)
            continue;
        range->is_mapped = (by_driver && is_device) || (omp->is_present(at, begin->number) &&
                                                        !rex_device_is_host(begin->number));
        if (range->is_mapped && by_driver) {
            range->device = (uintptr_t)omp->mapped_pointer(at, begin->number);
            range->is_mapped = range->device != 0;
        }
    }
}

static void leave_nested(enum rex_present_call call, enum rex_present_end how)
{
    if (call == REX_CALL_ENDS)
        rex_mappings_forget();
    if (how == REX_CALL_LATER)
        rex_add_process_reasons(REX_REASON_NOT_WAITED);
}

/* The entries of the call's ranges become what libomptarget has now, or loose. */
void rex_present_leave(enum rex_present_call call, const struct rex_map *map, int number,
                       enum rex_present_end how)
{
    struct call *own = rex_part_if_any(REX_PART_CALL);
    unsigned depth = own != NULL ? own->depth : 0;
    bool is_loose = how == REX_CALL_LATER && call != REX_CALL_UPDATES;
    if (depth > 1 && is_foreign(own, map, number))
        leave_nested(call, how);
    if (depth == 1) {
        own->ranges.is_refused = how == REX_CALL_REFUSED;
        if (is_loose)
            loosen(rex_present_table(number), &own->ranges);
        if (call == REX_CALL_BEGINS && how == REX_CALL_DONE)
            settle_begin(&own->ranges);
        if (call == REX_CALL_ENDS && (!is_loose || own->ranges.is_all))
            settle_end(&own->ranges);
    }
    if (call == REX_CALL_ENDS)
        rex_mapping_next_generation();
    if (depth == 1) {
        rex_present_unpin(&own->ranges);
        free(own->more);
        own->more = NULL;
        rex_shelter_end();
        rex_thread.holds--;
    }
    if (depth > 0)
        own->depth--;
    if (rex_thread.holds == 0 && rex_thread.has_held_lines)
        rex_log_say_held();
}
