/*
 * plan.c - plans a launch by the driver: reads, pins and places its rows (launch/plan.h).
 *
 * A mapped row has device memory. Any other row of memory is an own row: it gets device memory for
 * the time of the launch. If own rows are staged (launch/run.c), they lie in one block of memory,
 * in this order:
 * - rows that are only copied to the device;
 * - rows that are copied in both directions;
 * - rows that are only copied back;
 * - rows that are not copied.
 *
 * So the rows of each direction are adjacent, and one copy for each direction is enough.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/plan.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/process.h"
#include "cuda/pinned.h"
#include "launch/attributes.h"
#include "launch/check.h"
#include "memory/rowlookup.h"
#include "omp/device.h"
#include "present/presentcalls.h"

/* ---- fallback reasons of a row --------------------------------------------------------------- */

unsigned rex_reasons_of_row(const struct rex_map *map, int32_t i)
{
    int64_t type = map->types[i], size = map->sizes[i];
    uintptr_t begin = (uintptr_t)map->begin[i];
    if (map->mappers != NULL && map->mappers[i] != NULL)
        return REX_REASON_MAPPER;
    if (type & ~REX_ROW_BITS(type))
        return REX_REASON_TYPE;
    if (size < 0)
        return REX_REASON_ROWS;
    if (type & REX_MAP_LITERAL)
        return 0;
    bool is_endless = size > 0 && (begin == 0 || begin > UINTPTR_MAX - (uintptr_t)size);
    if (size > REX_ROW_MOST || is_endless || (size == 0 && (type & REX_MAP_PRIVATE)))
        return REX_REASON_ROWS;
    return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_own_row(struct rex_plan *plan, int32_t row)
{
    int64_t type = plan->map->types[row];
    size_t size = (size_t)plan->map->sizes[row];
    uintptr_t begin = (uintptr_t)plan->map->begin[row], end = begin + size;
    plan->own[plan->own_count] =
        (struct rex_own_row){.span = {.begin = begin, .end = end, .row = row},
                             .type = type,
                             .outer = (uint32_t)plan->own_count};
    plan->own_count++;
    /*
     * Own rows can be staged: copied together, through one block of memory (launch/plan.h). If one
     * row is larger than the block, no row is staged, and `is_pageable` does not matter.
     */
    if (plan->is_pageable && (type & REX_MAP_TOFROM) && size <= REX_STAGED_MOST)
        plan->is_pageable =
            rex_is_pageable((const void *)begin) && rex_is_pageable((const void *)(end - 1));
}

static unsigned place_row(struct rex_plan *plan, const struct rex_range *range)
{
    int32_t row = range->row;
    const struct rex_map *map = plan->map;
    int64_t type = map->types[row], size = map->sizes[row];
    void *begin = map->begin[row];
    if (plan->is_mapped) { /* libomptarget has mapped and copied the rows before this launch */
        void *device = rex_memory_address(begin, plan->ranges.number);
        /* LLVM 16 and later pass the host address for an unmapped section of size 0. */
        plan->device[row] = (uintptr_t)(device != NULL ? device : begin);
        return device == NULL && size > 0 ? REX_REASON_UNSEEN : 0u;
    }
    if (range->is_loose)
        return REX_REASON_LOOSE;
    if (range->device != 0) {
        bool is_updated = (type & REX_MAP_ALWAYS) && (type & REX_MAP_TOFROM) && size > 0;
        plan->device[row] = range->device;
        plan->has_updates |= is_updated;
        if (is_updated && (range->is_attached || rex_pointers_are_attached()))
            return REX_REASON_UNSEEN;
        return 0;
    }
    /*
     * A row of size 0 may lie between the base of a mapping and the mapped memory. Example: the
     * section x[10:5] has the base x and maps memory from &x[10], and the row is at &x[3]. Only
     * libomptarget finds a mapping by such an address.
     */
    if (range->is_mapped || (type & REX_MAP_PRESENT) || (size == 0 && rex_bases_are_apart()) ||
        !rex_is_absent(begin, (size_t)size, plan->ranges.number))
        return REX_REASON_UNSEEN;
    if (size > 0) {
        add_own_row(plan, row);
        return 0;
    }
    /* For a row of size 0, pass the address that libomptarget passes. */
    bool is_null = plan->release->empty_is_null;
    /*
     * If the base differs from `begin`, libomptarget adds the distance to NULL. Example: for
     * x[10:0], an empty section of an array of int, it passes -40. Let libomptarget make such a
     * launch.
     */
    if (is_null && map->base[row] != begin)
        return REX_REASON_UNSEEN;
    plan->device[row] = is_null ? 0 : (uintptr_t)begin;
    plan->has_empty = true;
    return 0;
}

/* ---- own rows -------------------------------------------------------------------------------- */

/*
 * Finds own rows that lie in other own rows. An own row is not mapped, and has device memory only
 * during the launch (launch/plan.h). If a row lies in an earlier row, libomptarget maps only the
 * earlier row, and makes only the copies of the earlier row. If two rows are equal, librex lets the
 * first row make the copies of both. Returns REX_REASON_OVERLAP if rows overlap in another way, or
 * if an inner row asks for a copy that the outer row does not make.
 */
static unsigned unite_own_rows(struct rex_plan *plan)
{
    struct rex_own_row *own = plan->own;
    uint32_t outer = 0;
    size_t i = 1;
    while (i < plan->own_count && own[i].span.begin >= own[i - 1].span.end)
        i++;
    if (i >= plan->own_count) /* most launches: the rows are in order and do not overlap */
        return 0;
    qsort(own, plan->own_count, sizeof *own, rex_spans_compare);
    for (uint32_t inner = 0; inner < plan->own_count; inner++) {
        struct rex_own_row *row = &own[inner], *around = &own[outer];
        if (inner == 0 || !rex_spans_overlap(&row->span, &around->span)) {
            row->outer = outer = inner;
            continue;
        }
        if (rex_span_contains(&row->span, &around->span))
            around->type |= row->type & REX_MAP_TOFROM;
        if (!rex_span_contains(&around->span, &row->span) || row->span.row <= around->span.row ||
            (row->type & ~around->type & REX_MAP_TOFROM) != 0)
            return REX_REASON_OVERLAP;
        row->outer = outer;
    }
    return 0;
}

#define LARGEST_ALIGNMENT 512 /* alignment of memory from cuMemAlloc() */
#define LEAST_ALIGNMENT 16

/*
 * Sets the offset of each own row (launch/plan.h) that is copied in exactly these DIRECTIONS. The
 * first offset is at least AT. Aligns each row as an object of its size may need: to a power of two
 * from 16 to 512. Returns the offset after the last row.
 */
static size_t give_offsets(struct rex_plan *plan, int64_t directions, size_t at)
{
    for (size_t i = 0; i < plan->own_count; i++) {
        struct rex_own_row *own = &plan->own[i];
        size_t size = rex_span_size(&own->span), align = LEAST_ALIGNMENT;
        if (own->outer != i || (own->type & REX_MAP_TOFROM) != directions)
            continue;
        while (align < size && align < LARGEST_ALIGNMENT)
            align *= 2;
        own->offset = (at + align - 1) / align * align;
        at = own->offset + size;
    }
    return at;
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* Sets `ranges` and `types` of PLAN. Returns fallback reasons. */
static unsigned read_rows(struct rex_plan *plan)
{
    const struct rex_map *map = plan->map;
    const int64_t *types = map->types, *sizes = map->sizes;
    void *const *begins = map->begin;
    struct rex_range *range = plan->ranges.range;
    bool is_unusual = map->mappers != NULL;
    unsigned reasons = 0;
    for (int32_t i = 0, count = map->count; i < count; i++) {
        int64_t type = types[i], size = sizes[i];
        uintptr_t begin = (uintptr_t)begins[i];
        if (type & REX_MAP_NOT_MAPPED) {
            is_unusual |= (type & ~REX_ROW_VALUE) != 0 || size < 0;
            continue;
        }
        is_unusual |= (type & ~REX_ROW_MAPPED) != 0 || size <= 0 || size > REX_ROW_MOST ||
                      begin == 0 || begin > UINTPTR_MAX - (uintptr_t)REX_ROW_MOST;
        *range =
            (struct rex_range){.begin = begin,
                               .end = begin + (uintptr_t)size,
                               .is_changed = (type & REX_MAP_FROM) != 0,
                               .at = range->at, /* a guess, from the last launch in this context */
                               .row = i};
        range++;
    }
    plan->ranges.count = (size_t)(range - plan->ranges.range);
    if (!is_unusual)
        return 0;
    for (int32_t i = 0; i < map->count; i++)
        reasons |= rex_reasons_of_row(map, i);
    for (size_t i = 0; i < plan->ranges.count; i++) {
        range = &plan->ranges.range[i];
        int64_t size = sizes[range->row];
        range->end = rex_end_of(begins[range->row], (size_t)size);
        range->is_changed &= size > 0;
    }
    return reasons;
}

/* Type bits of a value, and of mapped memory that the launch does not copy. */
#define PLAIN_BITS (REX_ROW_VALUE | (REX_ROW_MAPPED & ~REX_MAP_ALWAYS))

int rex_plan_check(struct rex_request *request, struct rex_plan *plan)
{
    struct rex_launch_context *context = plan->context;
    const struct rex_map *map = plan->map;
    const int64_t *type = map->types;
    int64_t all = 0, each = -1;
    uint32_t arguments = 0;
    size_t count = (size_t)map->count;
    size_t row = sizeof *plan->own + sizeof *plan->ranges.range + sizeof *plan->device;
    if (count >= context->rows_most) {
        void *rows = calloc(count + 1, row);
        if (rows == NULL)
            return rex_fail_memory((count + 1) * row, "the rows of a launch");
        free(context->rows);
        context->rows = rows;
        context->rows_most = count + 1;
    }
    plan->own = context->rows;
    plan->ranges.range = (void *)(plan->own + context->rows_most);
    plan->device = (void *)(plan->ranges.range + context->rows_most);
    for (size_t i = 0; i < count; i++) {
        all |= type[i];
        each &= type[i];
        arguments += (type[i] & REX_MAP_TARGET_PARAM) != 0;
    }
    plan->types = all;
    plan->may_be_mapped = context->rows_are_mapped && !plan->is_mapped && map->mappers == NULL &&
                          !(all & ~PLAIN_BITS) && !(each & REX_MAP_LITERAL);
    unsigned reasons = plan->may_be_mapped ? 0 : read_rows(plan);
    if (reasons != 0 && !plan->is_mapped) {
        request->reasons = reasons;
        return REX_OK;
    }
    int result = rex_check_limits(&request->target, &request->grid);
    if (result != REX_OK)
        return result;
    plan->packed.grid = request->grid;
    plan->packed.kernel = rex_loaded_kernel(&request->target, context->ordinal, context->cuda,
                                            request->grid.dynamic_memory);
    if (plan->packed.kernel == NULL)
        return rex_last_error_code();
    if (REX_UNLIKELY(request->grid.attributes != 0)) {
        result = rex_attributes_check(plan->packed.kernel, &request->grid);
        if (result != REX_OK)
            return result;
    }
    return rex_check_form(&request->target, arguments, request->map, &plan->form);
}

/*
 * Finds the device address of each row whose range is pinned. Plans device memory for each row that
 * is not mapped. Returns fallback reasons.
 */
static unsigned place_pinned_rows(struct rex_plan *plan)
{
    const struct rex_map *map = plan->map;
    unsigned reasons = 0;
    bool stay = !plan->is_mapped && !(plan->types & REX_MAP_ALWAYS);
    const struct rex_range *range = plan->ranges.range, *end = range + plan->ranges.count;
    uintptr_t *device = plan->device;
    for (; range < end; range++)
        if (stay && range->device != 0)
            device[range->row] = range->device;
        else
            reasons |= place_row(plan, range);
    for (size_t i = 0; plan->has_empty && i < plan->own_count; i++) {
        int32_t own = plan->own[i].span.row;
        reasons |= rex_base_is_apart(map, own) ? REX_REASON_UNSEEN : 0u;
        /*
         * LLVM 14 aborts if a row of size 0 lies in an own row that comes later in the map. With
         * the fallback reason, libomptarget has to launch. Before that launch, rex_check_presence()
         * refuses the row with an error.
         */
        for (int32_t row = 0; plan->release->one_end_a_call && row < own; row++)
            if (map->sizes[row] == 0 && rex_row_contains(map, own, map->begin[row], 1))
                reasons |= REX_REASON_UNSEEN;
    }
    if (plan->own_count > 1)
        reasons |= unite_own_rows(plan);
    bool has_private = (plan->types & REX_MAP_PRIVATE) != 0;
    for (int32_t i = 0; has_private && i < map->count && reasons == 0; i++)
        if (map->types[i] & REX_MAP_PRIVATE)
            add_own_row(plan, i);
    if (plan->own_count > 0) {
        struct rex_staged *staged = &plan->staged;
        staged->out_begin = give_offsets(plan, REX_MAP_TO, 0);
        staged->in = give_offsets(plan, REX_MAP_TOFROM, staged->out_begin);
        staged->out_end = give_offsets(plan, REX_MAP_FROM, staged->in);
        staged->total = give_offsets(plan, 0, staged->out_end);
    }
    return reasons;
}

void rex_plan_place(struct rex_request *request, struct rex_plan *plan)
{
    struct rex_range_lock *ranges = &plan->ranges;
    unsigned reasons = 0;
    bool is_placed = plan->may_be_mapped && rex_present_pin_rows(ranges, plan->map, plan->device);
    if (!is_placed && plan->may_be_mapped)
        reasons = read_rows(plan);
    if (!is_placed && reasons == 0 && ranges->count > 0)
        reasons = rex_present_pin(ranges);
    if (reasons != 0 || ranges->is_waiting) {
        request->reasons = reasons;
        return;
    }
    /*
     * Keep log lines until rex_plan_end(). rex_log_hold() would also call rex_shelter_begin(),
     * which the gate has already called.
     */
    rex_thread.holds++;
    if (!is_placed)
        reasons = place_pinned_rows(plan);
    plan->context->rows_are_mapped = reasons == 0 && plan->own_count == 0;
    /* Another call may have added a reason while this launch waited for memory. */
    if (reasons == 0 && !plan->is_mapped)
        reasons = rex_process_reasons();
    request->reasons = reasons;
    if (reasons != 0)
        rex_plan_end(plan);
}

void rex_plan_end(struct rex_plan *plan)
{
    if (plan->ranges.count > 0)
        rex_present_unpin(&plan->ranges);
    REX_ASSERT(rex_thread.holds > 0);
    rex_thread.holds--;
}
