/*
 * presentcalls.c - calls of libomptarget enter the present table, with the memory of their rows,
 * and leave it.
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
#include "omp/gate.h"
#include "present/lookup.h"
#include "present/loose.h"
#include "present/mappings.h"
#include "present/settle.h"

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

/* Map type of clang 22: the row attaches the pointer at its base. */
#define TYPE_ATTACH INT64_C(0x4000)
#define ON_STACK 32 /* number of ranges that need no allocation; a row has at most two ranges */

/*
 * The outermost call of a thread. Calls may nest: if libomptarget calls a function that it
 * exports, the call reaches librex's forwarder of that function (calls/forward.c).
 */
struct call {
    unsigned depth;
    /*
     * `begin` of the map of the outermost call. If libomptarget passes the rows of this call to a
     * nested call, the nested call gets this pointer. A nested call with another pointer has other
     * rows.
     */
    void *const *begin;
    struct rex_range_lock ranges;
    struct rex_range range[ON_STACK], *more; /* allocated array if there are more ranges, or NULL */
    bool has_mapper;
};

bool rex_present_is_entered(void)
{
    const struct call *own = rex_part_if_any(REX_PART_CALL);
    return own != NULL && own->depth > 0;
}

/*
 * Returns the number of references that row I adds or drops. It is 0 for a member that is not an
 * attached pointer, because the parent of the member adds the reference. It is unknown for a row
 * with REX_MAP_DELETE, which drops all references.
 *
 * It is also unknown if the row has size 0, or if the row's base lies outside the row. Example: the
 * row a[10:5] has the base `a`. LLVM 15 to 24 also treat a[0] to a[9] as part of the row's
 * mapping. So a row of size 0 at a[3] may add a reference to the mapping of a[10:5].
 */
static enum rex_counts counts_of(const struct rex_map *map, int32_t i)
{
    int64_t type = map->types[i];
    if (type & REX_MAP_DELETE)
        return REX_COUNTS_UNKNOWN;
    if ((type & REX_MAP_MEMBER_OF_MASK) && !(type & REX_MAP_PTR_AND_OBJ))
        return REX_COUNTS_NONE;
    return (type & ~REX_ROW_COUNTED) == 0 && map->sizes[i] > 0 && !rex_base_is_apart(map, i)
               ? REX_COUNTS_ONE
               : REX_COUNTS_UNKNOWN;
}

/*
 * Fills in the ranges of a call. If the call has a mapper, only libomptarget sees the mapper's
 * rows. In that case, or if malloc() of the ranges fails, the call gets a single range: the whole
 * address space.
 */
static void collect_ranges(struct call *own, enum rex_present_call call, const struct rex_map *map,
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
    struct rex_range *range = ranges->range;
    int32_t values = 0;
    int64_t types = 0;
    for (int32_t i = 0; map->mappers != NULL && i < map->count; i++)
        own->has_mapper |= map->mappers[i] != NULL;
    for (int32_t i = 0; i < map->count; i++) {
        int64_t type = map->types[i], size = map->sizes[i];
        if (type & REX_MAP_NOT_MAPPED) {
            values += !rex_row_has(type, REX_MAP_MEMBER_OF_MASK);
            continue;
        }
        if (size < 0 || (size == 0 && map->begin[i] == NULL))
            continue;
        types |= type;
        if (ranges->is_all)
            continue;
        *range = (struct rex_range){
            .begin = (uintptr_t)map->begin[i],
            .end = rex_end_of(map->begin[i], (size_t)size),
            .row = i,
            .at = own->more == NULL ? range->at : 0, /* a guess: `at` of this thread's last call */
            .counts = counts_of(map, i),
            .is_changed = (type & REX_MAP_FROM) != 0,
            .is_empty = size == 0,
            .shows = (type & REX_MAP_RETURN_PARAM) != 0};
        range++;
        if (type & REX_MAP_PTR_AND_OBJ)
            *range++ = (struct rex_range){.begin = (uintptr_t)map->base[i],
                                          .end = rex_end_of(map->base[i], sizeof(void *)),
                                          .counts = REX_COUNTS_UNKNOWN,
                                          .is_changed = true,
                                          .attaches = true};
    }
    ranges->count = (size_t)(range - ranges->range);
    ranges->values = values;
    ranges->types = types;
    ranges->is_all |= own->has_mapper;
    if (ranges->is_all) {
        ranges->count = 1;
        ranges->range[0] = (struct rex_range){.end = UINTPTR_MAX,
                                              .counts = REX_COUNTS_UNKNOWN,
                                              .is_changed = true,
                                              .shows = (ranges->types & REX_MAP_RETURN_PARAM) != 0};
    }
}

/*
 * Called if memory for the ranges of a call is short. Stops launches by the driver for good. Then
 * pins the whole address space as for an end call, to wait for the calls at work (present.h). At
 * the end, unpins the address space.
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

/* ---- in and out ------------------------------------------------------------------------------ */

/*
 * Returns true if a range with a new entry (`is_new`) overlaps an older mapping, which has no entry
 * and may be larger than the row. In that case the new entry must become loose (present.h).
 * Example: a mapper has mapped a[0:100], and this call maps a[0:10]. A later call with a[50:10]
 * could end the older mapping, and the entry of a[0:10] would remain.
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
 * MAP is the map of a nested call. Returns true if the rows of MAP are not the rows of this
 * thread's outermost call. Such a call comes from libomptarget itself, a mapper, or the log
 * function. The table gets no entries for the rows of such a call.
 */
static bool is_foreign_call(const struct call *own, const struct rex_map *map, int number)
{
    return map->count > 0 && (own->begin != map->begin || own->ranges.number != number);
}

static void enter_nested(struct call *own, enum rex_present_call call, const struct rex_map *map,
                         int number)
{
    own->depth++;
    if (!is_foreign_call(own, map, number))
        return;
    note_bases(call, map);
    rex_mapped_unseen();
    for (int32_t i = 0; i < map->count && call != REX_CALL_UPDATES; i++)
        if ((map->mappers != NULL && map->mappers[i] != NULL) ||
            (map->types[i] & (REX_MAP_PTR_AND_OBJ | TYPE_ATTACH)))
            __atomic_store_n(&pointers_are_attached, true, __ATOMIC_RELEASE);
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
    rex_await_deferred(number);
    struct rex_present_table *table = rex_present_table(number);
    if (table == NULL || (rex_process_reasons() & REX_REASON_UNSEEN_CALLS))
        return NULL;
    if (own == NULL && (own = rex_part(REX_PART_CALL, sizeof *own)) == NULL) {
        lock_all(number);
        return NULL;
    }
    own->depth++;
    rex_shelter_begin();
    collect_ranges(own, call, map, number);
    int64_t types = own->ranges.types;
    /*
     * The table records an attached pointer only if collect_ranges() has made a range for the
     * pointer. If the call may attach other pointers, set the flag: from now on any mapped memory
     * may contain an attached pointer.
     */
    if (call != REX_CALL_UPDATES && (own->has_mapper || (types & TYPE_ATTACH) ||
                                     (own->ranges.is_all && (types & REX_MAP_PTR_AND_OBJ))))
        __atomic_store_n(&pointers_are_attached, true, __ATOMIC_RELEASE);
    /* A mapper, or a launch that attaches a pointer, may leave mapped memory that has no entry. */
    if ((call != REX_CALL_UPDATES && own->has_mapper) ||
        (call == REX_CALL_LAUNCHES && (types & REX_MAP_PTR_AND_OBJ)))
        rex_mapped_unseen();
    bool maps = call == REX_CALL_BEGINS || call == REX_CALL_LAUNCHES;
    if (maps && own->ranges.count > 0)
        rex_pin_looked_at(table, &own->ranges);
    else if (own->ranges.count > 0)
        rex_present_pin(&own->ranges);
    own->ranges.is_unseen =
        call == REX_CALL_BEGINS && !rex_all_mappings_are_seen() && lies_in_unseen(&own->ranges);
    /* The increment and the earlier rex_shelter_begin() together do the work of rex_log_hold(). */
    rex_thread.holds++;
    return &own->ranges;
}

/*
 * Brings the entries of the call up to date with libomptarget. If the state of the mappings is not
 * certain (REX_LEFT_UNSURE), makes the memory of the call loose (present.h).
 */
void rex_present_leave(enum rex_present_call call, const struct rex_map *map, int number,
                       enum rex_present_outcome how)
{
    struct call *own = rex_part_if_any(REX_PART_CALL);
    unsigned depth = own != NULL ? own->depth : 0;
    bool is_loose = how == REX_LEFT_UNSURE && call != REX_CALL_UPDATES;
    bool is_foreign = depth > 1 && is_foreign_call(own, map, number);
    if (is_foreign && call == REX_CALL_ENDS)
        rex_mappings_forget();
    if (is_foreign && how == REX_LEFT_UNSURE)
        rex_add_process_reasons(REX_REASON_NOT_WAITED);
    if (depth == 1) {
        own->ranges.is_refused = how == REX_LEFT_REFUSED;
        if (is_loose)
            rex_loosen_call(rex_present_table(number), &own->ranges);
        if (call == REX_CALL_BEGINS && how == REX_LEFT_DONE)
            rex_settle_begin(&own->ranges);
        if (call == REX_CALL_ENDS && (!is_loose || own->ranges.is_all))
            rex_settle_end(&own->ranges);
    }
    if (call == REX_CALL_ENDS)
        rex_mapping_next_generation();
    if (depth == 1) {
        if (own->ranges.count > 0)
            rex_present_unpin(&own->ranges);
        free(own->more);
        own->more = NULL;
        rex_shelter_end();
        rex_thread.holds--;
        if (own->ranges.types & REX_MAP_RETURN_PARAM)
            rex_await_deferred(number);
    }
    if (depth > 0)
        own->depth--;
    if (rex_thread.holds == 0 && rex_thread.has_held_lines)
        rex_log_say_held();
}
