/*
 * presence.c - checks rows against the mappings on a device.
 *
 * LLVM 14 to 23 abort on rows that need present memory which is absent, and on rows that overlap a
 * mapping in part. They silently ignore updates of absent memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/presence.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "calls/calls.h"
#include "module/registration.h"
#include "omp/backend.h"
#include "omp/runtime.h"

static bool begins(enum rex_purpose purpose)
{
    return purpose == REX_FOR_LAUNCH || purpose == REX_FOR_BEGIN;
}

/*
 * Whether the row may be larger than its mapping. An implicit row may, unless it is copied, because
 * libomptarget copies it whole. A section with a mapper may not, though it is implicit and copies
 * nothing: libomptarget would map the elements beyond the mapping elsewhere on the device.
 */
static bool may_exceed(const struct rex_map *map, int32_t i, enum rex_purpose purpose)
{
    int64_t type = map->types[i];
    bool copied = purpose == REX_FOR_END
                      ? rex_row_has(type, REX_MAP_FROM)
                      : rex_row_has(type, REX_MAP_ALWAYS) && rex_row_has(type, REX_MAP_TOFROM);
    bool has_mapper =
        begins(purpose) && !rex_row_has(type, REX_MAP_TOFROM) && rex_row_is_parent(map, i);
    return rex_row_has(type, REX_MAP_IMPLICIT) && !copied && !has_mapper;
}

static bool is_looked_up(const struct rex_map *map, int32_t i, enum rex_purpose purpose)
{
    int64_t type = map->types[i];
    if (rex_row_has(type, REX_MAP_NOT_MAPPED))
        return false;
    /*
     * A queue maps nothing. A section of size 0 is NULL for the kernel, unless it is implicit or
     * needs present memory.
     */
    if (purpose == REX_FOR_QUEUE)
        return map->sizes[i] > 0 || rex_row_has(type, REX_MAP_IMPLICIT | REX_MAP_PRESENT);
    /* A section of size 0 maps nothing, but it can need present memory. */
    if (map->sizes[i] == 0)
        return rex_row_has(type, REX_MAP_PRESENT);
    /*
     * An update copies the members of a parent, never the parent, which need not be mapped whole.
     */
    if (purpose == REX_FOR_UPDATE)
        return rex_row_has(type, REX_MAP_TOFROM | REX_MAP_PRESENT);
    /*
     * A member lies in its parent, which is checked already; an attached pointer need not. Memory
     * that has to be present may have to be so before the parent is mapped.
     */
    if (begins(purpose) && rex_row_has(type, REX_MAP_MEMBER_OF_MASK) &&
        !rex_row_has(type, REX_MAP_PTR_AND_OBJ | REX_MAP_PRESENT))
        return false;
    return begins(purpose) || rex_row_has(type, REX_MAP_PRESENT) ||
           may_exceed(map, i, purpose) != rex_row_has(type, REX_MAP_IMPLICIT);
}

/* Globals are mapped when the image is loaded. An empty region loads the image if no call has. */
enum rex_presence rex_presence_after_load(const void *begin, size_t size, int number)
{
    rex_device_used();
    rex_call_data(REX_DATA_BEGIN, NULL, number, &(struct rex_map){0});
    return rex_memory_presence(begin, size, number);
}

bool rex_is_absent(const void *begin, size_t size, int number)
{
    return rex_all_mappings_are_seen() ||
           rex_presence_after_load(begin, size, number) == REX_ABSENT;
}

/* The state of one call's check against the mappings. */
struct look {
    const struct rex_map *map;
    enum rex_purpose purpose;
    int number;
    const char *what;
    const struct rex_release *release;
    struct rex_new_row *new_rows; /* memory that the call will map */
    size_t new_count;
};

/* Memory to look up: that of row ROW, or, if `pointer`, the pointer that the row maps first. */
struct wanted {
    const void *begin;
    int64_t size, type;
    int32_t row;
    bool pointer;
};

int rex_fail_absent(enum rex_purpose purpose, const char *what, const struct rex_map *map,
                    int32_t row, const void *begin, int64_t size, enum rex_presence presence,
                    int number)
{
    char text[REX_ROW_TEXT];
    bool kernel = purpose == REX_FOR_LAUNCH || purpose == REX_FOR_QUEUE;
    const char *quote = kernel ? "\"" : "";
    return rex_fail(REX_EABSENT, "%s%s%.*s%s: map row %d, %lld bytes at %p, is %s on device %d%s%s",
                    kernel ? "kernel " : "", quote, REX_KERNEL_NAME(what), quote, row,
                    (long long)size, begin,
                    presence == REX_PRESENT_IN_PART ? "mapped in part" : "not mapped", number,
                    purpose == REX_FOR_QUEUE ? ": a queue maps nothing for a launch" : "",
                    rex_row_text(map, row, text));
}

static int overlap(const struct look *look, const struct wanted *wanted, const char *where)
{
    struct rex_mapping found;
    char mapped[80] = "", text[REX_ROW_TEXT];
    if (rex_mapping_find_any(wanted->begin, (size_t)wanted->size, look->number, &found))
        snprintf(mapped, sizeof mapped, "; %zu bytes at %p are mapped",
                 (size_t)(found.end - found.begin), (void *)found.begin);
    return rex_fail(
        REX_EOVERLAP,
        "%.*s: map row %d, %lld bytes at %p, is %s on device %d: libomptarget aborts on that%s%s",
        REX_KERNEL_NAME(look->what), wanted->row, (long long)wanted->size, wanted->begin, where,
        look->number, mapped, rex_row_text(look->map, wanted->row, text));
}

/* Notes memory that the call will map. */
static void add_new(struct look *look, const struct wanted *wanted)
{
    uintptr_t begin = (uintptr_t)wanted->begin;
    bool exceeds = may_exceed(look->map, wanted->row, look->purpose),
         copied = look->release->excess_copied && rex_row_has(wanted->type, REX_MAP_TOFROM);
    look->new_rows[look->new_count++] = (struct rex_new_row){
        begin, begin + (uintptr_t)wanted->size, wanted->row, wanted->pointer, exceeds && !copied};
}

/*
 * Whether an earlier row of the call will have mapped this memory by then. An implicit row may turn
 * out smaller, so it does not count.
 */
static bool is_mapped_before(const struct look *look, const struct wanted *wanted)
{
    const struct rex_new_row *rows = look->new_rows;
    uintptr_t begin = (uintptr_t)wanted->begin;
    for (size_t i = 0; begins(look->purpose) && i < look->new_count; i++)
        if (!rows[i].may_exceed && rows[i].begin <= begin && begin < rows[i].end &&
            (uint64_t)wanted->size <= rows[i].end - begin)
            return true;
    return false;
}

static bool is_needed(const struct look *look, const struct wanted *wanted)
{
    return look->purpose == REX_FOR_UPDATE || look->purpose == REX_FOR_QUEUE ||
           rex_row_has(wanted->type, REX_MAP_PRESENT);
}

static int check_wanted(struct look *look, const struct wanted *wanted)
{
    size_t size = (size_t)wanted->size;
    enum rex_presence presence = rex_memory_presence(wanted->begin, size, look->number);
    bool needed = is_needed(look, wanted),
         is_absent = presence == REX_ABSENT || presence == REX_PRESENT_INSIDE;
    if (needed && is_absent && !look->release->presence_at_entry && is_mapped_before(look, wanted))
        return REX_OK;
    if (needed && is_absent)
        presence = rex_presence_after_load(wanted->begin, size, look->number);
    if (presence == REX_PRESENT_WHOLE)
        return REX_OK;
    if (needed)
        return rex_fail_absent(look->purpose, look->what, look->map, wanted->row, wanted->begin,
                               wanted->size, presence, look->number);
    if (presence == REX_ABSENT && look->purpose != REX_FOR_END)
        add_new(look, wanted);
    if (presence == REX_PRESENT_INSIDE && look->purpose != REX_FOR_END &&
        !may_exceed(look->map, wanted->row, look->purpose))
        return overlap(look, wanted, "mapped in its middle");
    if (is_absent)
        return REX_OK;
    return may_exceed(look->map, wanted->row, look->purpose)
               ? REX_OK
               : overlap(look, wanted, "mapped in part");
}

/*
 * Whether libomptarget maps the row's pointer, too, and first: the row attaches it, and its parent
 * does not contain it.
 */
static bool maps_pointer(const struct rex_map *map, int32_t i, enum rex_purpose purpose)
{
    int64_t type = map->types[i], parent = rex_row_parent(type);
    return begins(purpose) && rex_row_has(type, REX_MAP_PTR_AND_OBJ) &&
           !rex_row_has(type, REX_MAP_NOT_MAPPED) &&
           (parent < 0 || !rex_row_contains(map, (int32_t)parent, map->base[i], sizeof(void *)));
}

/* The memory that row I maps. LLVM 14 to 16 map a parent from the multiple of 8 below its begin. */
static struct wanted wanted_of(const struct look *look, int32_t i)
{
    const struct rex_map *map = look->map;
    struct wanted wanted = {map->begin[i], map->sizes[i], map->types[i], i, false};
    uintptr_t more = (uintptr_t)wanted.begin % 8;
    if (more > 0 && look->release->parents_rounded && rex_row_is_parent(map, i) &&
        rex_row_parent(wanted.type) < 0) {
        wanted.begin = (const char *)wanted.begin - more;
        wanted.size += (int64_t)more;
    }
    return wanted;
}

static int check_row(struct look *look, int32_t i)
{
    const struct rex_map *map = look->map;
    int result = REX_OK;
    if (maps_pointer(map, i, look->purpose)) {
        struct wanted pointer = {map->base[i], sizeof(void *), map->types[i], i, true};
        result = check_wanted(look, &pointer);
    }
    if (result == REX_OK && is_looked_up(map, i, look->purpose)) {
        struct wanted wanted = wanted_of(look, i);
        result = check_wanted(look, &wanted);
    }
    return result;
}

/*
 * Refuses row I, of size 0, if a later row of the launch maps the memory around it. Row I counts as
 * no reference, because it comes first, but it ends the mapping, so that the end of the launch
 * finds it gone.
 */
static int check_end(const struct look *look, int32_t i)
{
    const struct rex_new_row *rows = look->new_rows;
    uintptr_t begin = (uintptr_t)look->map->begin[i];
    for (size_t j = 0; j < look->new_count; j++)
        if (i < rows[j].row && begin >= rows[j].begin && begin < rows[j].end)
            return rex_fail(
                REX_EOVERLAP,
                "%.*s: map row %d, of no length at %p, lies in row %d: LLVM %d aborts on "
                "that, unless it comes after it",
                REX_KERNEL_NAME(look->what), i, (void *)begin, rows[j].row, look->release->number);
    return REX_OK;
}

static int check_ends(const struct look *look)
{
    int result = REX_OK;
    for (int32_t i = 0; i < look->map->count && result == REX_OK; i++)
        if (look->map->sizes[i] == 0 && look->map->begin[i] != NULL &&
            !rex_row_has(look->map->types[i], REX_MAP_NOT_MAPPED))
            result = check_end(look, i);
    return result;
}

static int check_rows(struct look *look)
{
    int result = REX_OK;
    for (int32_t i = 0; i < look->map->count && result == REX_OK; i++)
        result = check_row(look, i);
    if (result == REX_OK)
        result = rex_new_rows_check(look->new_rows, &look->new_count, look->map, look->what);
    if (result == REX_OK && look->purpose == REX_FOR_LAUNCH && look->release->one_end_a_call)
        result = check_ends(look);
    return result;
}

/*
 * Whether the present table shows that all rows are right. Each lies in one mapping, or is plain,
 * absent and apart from the others. Else libomptarget has to be asked: while another call maps
 * memory without an entry, and where the driver does not launch, so that the table does not follow
 * all calls.
 */
static bool is_right(const struct rex_map *map, const struct rex_range_lock *ranges,
                     enum rex_purpose purpose)
{
    bool may_be_new = purpose == REX_FOR_BEGIN && ranges->is_alone && rex_all_mappings_are_seen() &&
                      rex_process_reasons() == 0,
         right =
             !ranges->is_all && ranges->count == (size_t)map->count &&
             !(ranges->types & (REX_MAP_MEMBER_OF_MASK | REX_MAP_PTR_AND_OBJ | REX_MAP_PRESENT));
    for (size_t i = 0; i < ranges->count && right; i++)
        right = (ranges->range[i].is_whole && !ranges->range[i].is_loose) ||
                (ranges->range[i].is_new && may_be_new);
    return right;
}

#define NEW_ON_STACK 16

int rex_check_presence(const struct rex_map *map, enum rex_purpose purpose, int number,
                       const char *what, const struct rex_range_lock *ranges)
{
    struct rex_new_row on_stack[NEW_ON_STACK];
    struct look look = {
        .map = map, .purpose = purpose, .number = number, .what = what, .new_rows = on_stack};
    if (map == NULL || (ranges != NULL && is_right(map, ranges, purpose)))
        return REX_OK;
    look.release = rex_runtime();
    size_t size = 2 * (size_t)map->count * sizeof *look.new_rows; /* a row and its pointer */
    if (size > sizeof on_stack && (look.new_rows = malloc(size)) == NULL)
        return rex_fail_memory(size, "the rows of a call");
    int result = check_rows(&look);
    if (look.new_rows != on_stack)
        free(look.new_rows);
    return result;
}
