/*
 * rowlookup.c - checks rows against the mappings on a device.
 *
 * LLVM 14 to 23 abort on a row with PRESENT whose memory is absent, and on a row that overlaps a
 * mapping in part. They silently ignore an update call for absent memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "memory/rowlookup.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "calls/calls.h"
#include "cuda/lost.h"
#include "module/registration.h"
#include "omp/backend.h"
#include "omp/runtime.h"

/*
 * Returns true if row I is allowed to be larger than its mapping. Only an implicit row is allowed
 * to be larger. Example: a kernel uses the array a[100] without a map clause, and only a[0:50] is
 * mapped. But the implicit row must not be larger in two cases:
 * - The row is copied: libomptarget would copy the whole row.
 * - The row is a section with a mapper: libomptarget would map the elements beyond the mapping in
 *   other device memory.
 */
static bool may_exceed(const struct rex_map *map, int32_t i, enum rex_purpose purpose)
{
    int64_t type = map->types[i];
    bool copied = purpose == REX_FOR_END
                      ? rex_row_has(type, REX_MAP_FROM)
                      : rex_row_has(type, REX_MAP_ALWAYS) && rex_row_has(type, REX_MAP_TOFROM);
    bool has_mapper = rex_purpose_begins(purpose) && !rex_row_has(type, REX_MAP_TOFROM) &&
                      rex_row_is_parent(map, i);
    return rex_row_has(type, REX_MAP_IMPLICIT) && !copied && !has_mapper;
}

static bool is_looked_up(const struct rex_map *map, int32_t i, enum rex_purpose purpose)
{
    int64_t type = map->types[i];
    if (rex_row_has(type, REX_MAP_NOT_MAPPED))
        return false;
    /*
     * A launch in a queue maps nothing. A section of size 0 needs no mapping, unless the row is
     * implicit or has PRESENT.
     */
    if (purpose == REX_FOR_QUEUE)
        return map->sizes[i] > 0 || rex_row_has(type, REX_MAP_IMPLICIT | REX_MAP_PRESENT);
    /* A section of size 0, such as a[4:0], maps nothing. But with PRESENT, a[4] must be mapped. */
    if (map->sizes[i] == 0)
        return rex_row_has(type, REX_MAP_PRESENT);
    /*
     * A parent is a row that spans its members, for example from s.x to s.z. An update call copies
     * the members s.x and s.z, but not the parent. So the parent may be mapped in part.
     */
    if (purpose == REX_FOR_UPDATE)
        return rex_row_has(type, REX_MAP_TOFROM | REX_MAP_PRESENT);
    /*
     * Skip a member such as s.x: its parent contains it, and is looked up. But do not skip two
     * kinds of members:
     * - Memory of an attached pointer, such as s.p[0:n]: it lies outside the parent.
     * - A member with PRESENT: in some LLVM releases, its memory must be mapped before the call.
     */
    if (rex_purpose_begins(purpose) && rex_row_has(type, REX_MAP_MEMBER_OF_MASK) &&
        !rex_row_has(type, REX_MAP_PTR_AND_OBJ | REX_MAP_PRESENT))
        return false;
    return rex_purpose_begins(purpose) || rex_row_has(type, REX_MAP_PRESENT) ||
           may_exceed(map, i, purpose) != rex_row_has(type, REX_MAP_IMPLICIT);
}

/*
 * An empty data call loads the image, if no earlier call did. libomptarget then maps the globals.
 * On a lost device LLVM 24 would abort in this call.
 */
enum rex_presence rex_presence_after_load(const void *begin, size_t size, int number)
{
    if (rex_device_is_lost(number))
        return REX_ABSENT;
    rex_device_used();
    rex_call_data(REX_DATA_BEGIN, NULL, number, &(struct rex_map){0});
    return rex_memory_presence(begin, size, number);
}

bool rex_is_absent(const void *begin, size_t size, int number)
{
    return rex_all_mappings_are_seen() ||
           rex_presence_after_load(begin, size, number) == REX_ABSENT;
}

/* The state of the check of one call. */
struct look {
    const struct rex_map *map;
    enum rex_purpose purpose;
    int number;
    const char *what;
    const struct rex_release *release;
    struct rex_row_span *spans; /* spans that the call will map */
    size_t count;
};

int rex_fail_absent(enum rex_purpose purpose, const char *what, const struct rex_map *map,
                    const struct rex_row_span *wanted, enum rex_presence presence, int number)
{
    char text[REX_ROW_TEXT];
    bool kernel = purpose == REX_FOR_LAUNCH || purpose == REX_FOR_QUEUE;
    const char *quote = kernel ? "\"" : "";
    return rex_fail(REX_EABSENT,
                    "%s%s%.*s%s: map row %d%s, %zu bytes at %p, is %s on device %d%s%s",
                    kernel ? "kernel " : "", quote, REX_KERNEL_NAME(what), quote, wanted->row,
                    wanted->pointer ? ": its pointer" : "", rex_span_size(wanted),
                    (void *)wanted->begin, presence == REX_ABSENT ? "not mapped" : "mapped in part",
                    number, purpose == REX_FOR_QUEUE ? ": a queue maps nothing for a launch" : "",
                    rex_row_text(map, wanted->row, text));
}

/* Looks up WANTED. Adds WANTED to the spans of LOOK if the call will map it. */
static int check_span(struct look *look, const struct rex_row_span *wanted)
{
    const void *begin = (const void *)wanted->begin;
    size_t size = rex_span_size(wanted);
    int64_t type = look->map->types[wanted->row];
    enum rex_presence presence = rex_memory_presence(begin, size, look->number);
    bool is_absent = presence == REX_ABSENT || presence == REX_PRESENT_INSIDE;
    struct rex_mapping found;
    char mapped[80] = "", text[REX_ROW_TEXT];
    if (look->purpose == REX_FOR_UPDATE || look->purpose == REX_FOR_QUEUE ||
        rex_row_has(type, REX_MAP_PRESENT)) {
        /*
         * Accept a row with PRESENT if an earlier row of this call maps its memory. LLVM releases
         * with `presence_at_entry` refuse such a row. Ignore earlier rows with `may_exceed`: their
         * mappings may be smaller than the rows.
         */
        bool is_asked =
            is_absent && !look->release->presence_at_entry && rex_purpose_begins(look->purpose);
        for (size_t i = 0; is_asked && i < look->count; i++)
            if (!look->spans[i].may_exceed && rex_span_contains(&look->spans[i], wanted) &&
                wanted->begin < look->spans[i].end)
                return REX_OK;
        if (is_absent)
            presence = rex_presence_after_load(begin, size, look->number);
        if (presence == REX_PRESENT_WHOLE)
            return REX_OK;
        return rex_fail_absent(look->purpose, look->what, look->map, wanted, presence,
                               look->number);
    }
    if (presence == REX_PRESENT_WHOLE || (presence == REX_ABSENT && look->purpose == REX_FOR_END))
        return REX_OK;
    bool exceeds = may_exceed(look->map, wanted->row, look->purpose);
    if (presence == REX_ABSENT) {
        bool is_copied = look->release->excess_copied && rex_row_has(type, REX_MAP_TOFROM);
        look->spans[look->count] = *wanted;
        look->spans[look->count++].may_exceed = exceeds && !is_copied;
        return REX_OK;
    }
    if (exceeds)
        return REX_OK;
    if (rex_mapping_find_any(begin, size, look->number, &found))
        snprintf(mapped, sizeof mapped, "; %zu bytes at %p are mapped",
                 (size_t)(found.end - found.begin), (void *)found.begin);
    return rex_fail(
        REX_EOVERLAP,
        "%.*s: map row %d%s, %zu bytes at %p, is mapped only in %s on device %d: libomptarget "
        "aborts if a row is mapped only in part%s%s",
        REX_KERNEL_NAME(look->what), wanted->row, wanted->pointer ? ": its pointer" : "", size,
        begin, presence == REX_PRESENT_INSIDE ? "its middle" : "part", look->number, mapped,
        rex_row_text(look->map, wanted->row, text));
}

static int check_mapped_row(struct look *look, int32_t i)
{
    const struct rex_map *map = look->map;
    int64_t type = map->types[i], parent = rex_row_parent(type);
    uintptr_t begin = (uintptr_t)map->begin[i], end = begin + (uintptr_t)map->sizes[i];
    /*
     * Example: the row p[0:n] attaches the pointer p. libomptarget first maps p itself, and then
     * p[0:n]. So check p as well as p[0:n]. But if the pointer lies in the parent of the row, as
     * s.p lies in s, libomptarget maps the pointer with the parent.
     */
    if (rex_purpose_begins(look->purpose) && rex_row_has(type, REX_MAP_PTR_AND_OBJ) &&
        !rex_row_has(type, REX_MAP_NOT_MAPPED) &&
        (parent < 0 || !rex_row_contains(map, (int32_t)parent, map->base[i], sizeof(void *)))) {
        uintptr_t base = (uintptr_t)map->base[i];
        struct rex_row_span pointer = {base, base + sizeof(void *), i, true, false};
        int result = check_span(look, &pointer);
        if (result != REX_OK)
            return result;
    }
    if (!is_looked_up(map, i, look->purpose))
        return REX_OK;
    /* LLVM 14 to 16 round the start of a parent down to a multiple of 8. */
    if (look->release->parents_rounded && rex_row_is_parent(map, i) && parent < 0)
        begin -= begin % 8;
    return check_span(look, &(struct rex_row_span){begin, end, i, false, false});
}

/*
 * Returns true if the present table shows that all rows are right. Returns false if librex has to
 * ask libomptarget. If the result is true, no row is a member or has an attached pointer, and each
 * row lies in one mapping or is new. A row is new if the call makes the mapping of the row. A new
 * row is right only in a begin call, and only if no row of the call has PRESENT. The table cannot
 * show that the memory of a new row is absent in two cases:
 * - Another call is mapping memory that has no entry yet.
 * - A call may have mapped the row outside the table: librex does not see all mappings, or the
 *   process has fallback reasons.
 */
static bool are_ranges_right(const struct rex_map *map, const struct rex_range_lock *ranges,
                             enum rex_purpose purpose)
{
    if (ranges->is_all || ranges->count + (size_t)ranges->values != (size_t)map->count ||
        rex_row_has(ranges->types, REX_MAP_MEMBER_OF_MASK | REX_MAP_PTR_AND_OBJ))
        return false;
    bool may_be_new = purpose == REX_FOR_BEGIN && ranges->is_alone &&
                      !rex_row_has(ranges->types, REX_MAP_PRESENT) && rex_all_mappings_are_seen() &&
                      rex_process_reasons() == 0;
    for (size_t i = 0; i < ranges->count; i++)
        if (!ranges->range[i].is_in_one && !(ranges->range[i].is_new && may_be_new))
            return false;
    return true;
}

#define SPANS_ON_STACK 16

int rex_check_presence(const struct rex_map *map, enum rex_purpose purpose, int number,
                       const char *what, const struct rex_range_lock *ranges)
{
    struct rex_row_span on_stack[SPANS_ON_STACK];
    char text[REX_ROW_TEXT];
    struct look look = {
        .map = map, .purpose = purpose, .number = number, .what = what, .spans = on_stack};
    if (map == NULL || (ranges != NULL && are_ranges_right(map, ranges, purpose)))
        return REX_OK;
    look.release = rex_runtime();
    /* A row needs at most two spans: for its memory, and for the pointer that it attaches. */
    size_t size = 2 * (size_t)map->count * sizeof *look.spans;
    if (size > sizeof on_stack && (look.spans = malloc(size)) == NULL)
        return rex_fail_memory(size, "the rows of a call");
    int result = REX_OK;
    for (int32_t i = 0; i < map->count; i++) {
        result = check_mapped_row(&look, i);
        if (result != REX_OK)
            goto free_spans;
    }
    result = rex_new_spans_check(look.spans, &look.count, map, what);
    if (result != REX_OK || purpose != REX_FOR_LAUNCH || !look.release->one_end_a_call)
        goto free_spans;
    /*
     * Refuse a row of size 0 if a later row of the launch maps the memory around it. Example:
     * a[4:0] comes before a[0:8]. At the start of the launch, a[4:0] finds no mapping, and adds no
     * reference. Then a[0:8] makes a mapping with one reference. At the end of the launch, both
     * rows drop a reference, and libomptarget aborts.
     */
    for (int32_t i = 0; i < map->count; i++) {
        uintptr_t begin = (uintptr_t)map->begin[i];
        if (map->sizes[i] != 0 || begin == 0 || rex_row_has(map->types[i], REX_MAP_NOT_MAPPED))
            continue;
        for (size_t j = 0; j < look.count; j++) {
            const struct rex_row_span *span = &look.spans[j];
            if (i >= span->row || begin < span->begin || begin >= span->end)
                continue;
            result = rex_fail(
                REX_EOVERLAP,
                "%.*s: map row %d, of no length at %p, lies in %srow %d: LLVM %d aborts unless row "
                "%d comes after row %d%s",
                REX_KERNEL_NAME(what), i, (void *)begin, span->pointer ? "the pointer of " : "",
                span->row, look.release->number, i, span->row, rex_row_text(map, i, text));
            goto free_spans;
        }
    }
free_spans:
    if (look.spans != on_stack)
        free(look.spans);
    return result;
}
