/*
 * bydriver.c - a waiting launch by the CUDA driver: its fallback reasons, its plan, log and trace.
 *
 * On an H100 it takes half the time of a launch by libomptarget with a few mapped rows, and a
 * sixteenth with 256. A launch that libomptarget would do differently has a fallback reason, and
 * goes to libomptarget: omp/backend.h lists the reasons.
 *
 * A mapped row stays where it is. Any other row gets device memory for the time of the launch. In
 * that memory rows that are only copied in come first, then rows that are copied both ways, then
 * rows that are only copied back. So one copy for each direction is enough.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/bydriver.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "calls/callreport.h"
#include "calls/calls.h"
#include "cuda/context.h"
#include "cuda/pinned.h"
#include "launch/check.h"
#include "launch/driversteps.h"
#include "memory/presence.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "present/lookup.h"
#include "present/presentcalls.h"
#include "trace/trace.h"

/* ---- fallback reasons ------------------------------------------------------------------------ */

#define VALUE_BITS (REX_MAP_LITERAL | REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT | REX_MAP_KIND_MASK)
#define PRIVATE_BITS (REX_MAP_PRIVATE | REX_MAP_TO | REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT)
#define MAPPED_BITS                                                                              \
    (REX_MAP_TOFROM | REX_MAP_ALWAYS | REX_MAP_TARGET_PARAM | REX_MAP_IMPLICIT | REX_MAP_CLOSE | \
     REX_MAP_PRESENT | REX_MAP_OMPX_HOLD)

unsigned rex_reasons_of_row(const struct rex_map *map, int32_t i)
{
    int64_t type = map->types[i], size = map->sizes[i];
    int64_t known = type & REX_MAP_LITERAL   ? VALUE_BITS
                    : type & REX_MAP_PRIVATE ? PRIVATE_BITS
                                             : MAPPED_BITS;
    uintptr_t begin = (uintptr_t)map->begin[i];
    if (map->mappers != NULL && map->mappers[i] != NULL)
        return REX_REASON_MAPPER;
    if (type & ~known)
        return REX_REASON_TYPE;
    if (size < 0)
        return REX_REASON_ROWS;
    if (type & REX_MAP_LITERAL)
        return 0;
    return size > REX_ROW_MOST || (size == 0 && (type & REX_MAP_PRIVATE)) ||
                   (size > 0 && (begin == 0 || begin > UINTPTR_MAX - (uintptr_t)size))
               ? REX_REASON_ROWS
               : 0u;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/*
 * Reads the rows of the plan: counts those that are ARGUMENTS, and lists the memory to pin. Returns
 * fallback reasons.
 */
static unsigned read_rows(struct rex_plan *plan, uint32_t *arguments)
{
    const struct rex_map *map = plan->map;
    struct rex_range *range = plan->ranges.range;
    uint32_t parameters = 0;
    int64_t types = 0;
    unsigned reasons = 0;
    for (int32_t i = 0; i < map->count; i++) {
        int64_t type = map->types[i], size = map->sizes[i];
        reasons |= rex_reasons_of_row(map, i);
        parameters += (type & REX_MAP_TARGET_PARAM) != 0;
        types |= type;
        if (!(type & REX_MAP_NOT_MAPPED))
            *range++ = (struct rex_range){.begin = (uintptr_t)map->begin[i],
                                          .end = rex_end_of(map->begin[i], (size_t)size),
                                          .is_changed = size > 0 && (type & REX_MAP_FROM) != 0,
                                          .row = i};
    }
    *arguments = parameters;
    plan->types = types;
    plan->ranges.count = (size_t)(range - plan->ranges.range);
    return reasons;
}

static void add_own(struct rex_plan *plan, int32_t row)
{
    int64_t type = plan->map->types[row];
    size_t size = (size_t)plan->map->sizes[row];
    uintptr_t begin = (uintptr_t)plan->map->begin[row], end = begin + size;
    plan->own[plan->own_count] = (struct rex_own_row){
        .begin = begin, .end = end, .type = type, .row = row, .outer = (uint32_t)plan->own_count};
    plan->own_count++;
    /* Rows that are too large to be staged need no answer. */
    if (plan->is_pageable && (type & REX_MAP_TOFROM) && size <= REX_STAGED_MOST)
        plan->is_pageable =
            rex_is_pageable((const void *)begin) && rex_is_pageable((const void *)(end - 1));
}

/*
 * Places a row of no elements that is not mapped: the kernel gets what libomptarget passes. If a
 * base is apart from its row, only libomptarget finds that row by addresses between the two.
 */
static unsigned place_empty(struct rex_plan *plan, const struct rex_range *range)
{
    const struct rex_map *map = plan->map;
    int32_t row = range->row;
    void *begin = map->begin[row];
    if (range->is_mapped || (map->types[row] & REX_MAP_PRESENT) || rex_bases_are_apart() ||
        !rex_is_absent(begin, 0, plan->ranges.number))
        return REX_REASON_UNSEEN;
    bool is_null = plan->release->empty_is_null;
    if (is_null && map->base[row] != begin) /* the difference would be added to NULL */
        return REX_REASON_UNSEEN;
    plan->device[row] = is_null ? 0 : (uintptr_t)begin;
    plan->has_empty = true;
    return 0;
}

/* Fallback reasons of the own rows of a launch with rows of no elements. */
static unsigned reasons_beside_empty(const struct rex_plan *plan)
{
    unsigned reasons = 0;
    for (size_t i = 0; i < plan->own_count; i++) {
        const struct rex_own_row *own = &plan->own[i];
        reasons |= rex_base_is_apart(plan->map, own->row) ? REX_REASON_UNSEEN : 0u;
        /* LLVM 14 aborts, and the launch is an error of the program. */
        for (int32_t row = 0; plan->release->one_end_a_call && row < own->row; row++)
            if (plan->map->sizes[row] == 0 &&
                rex_row_contains(plan->map, own->row, plan->map->begin[row], 1))
                reasons |= REX_REASON_UNSEEN;
    }
    return reasons;
}

static unsigned place_row(struct rex_plan *plan, const struct rex_range *range)
{
    int32_t row = range->row;
    int64_t type = plan->map->types[row], size = plan->map->sizes[row];
    /* libomptarget's own begin has waited for copies that were not over. */
    if (range->is_loose && !plan->is_mapped)
        return REX_REASON_LOOSE;
    if (plan->is_mapped) {
        void *begin = plan->map->begin[row];
        void *device = rex_memory_address(begin, plan->ranges.number);
        /* For a section of size 0 LLVM 16 and later pass the host's address. */
        plan->device[row] = (uintptr_t)(device != NULL ? device : begin);
        return device == NULL && size > 0 ? REX_REASON_UNSEEN : 0u;
    }
    if (range->device != 0) {
        bool updated = (type & REX_MAP_ALWAYS) && (type & REX_MAP_TOFROM) && size > 0;
        plan->device[row] = range->device;
        plan->has_updates |= updated;
        return updated && (range->is_attached || rex_pointers_are_attached()) ? REX_REASON_UNSEEN
                                                                              : 0u;
    }
    if (size == 0)
        return place_empty(plan, range);
    if (range->is_mapped || (type & REX_MAP_PRESENT) ||
        !rex_is_absent(plan->map->begin[row], (size_t)size, plan->ranges.number))
        return REX_REASON_UNSEEN;
    add_own(plan, row);
    return 0;
}

/* ---- own rows -------------------------------------------------------------------------------- */

/* By address; if two begin together, the earlier one in the map comes first. */
static int by_address(const void *left, const void *right)
{
    const struct rex_own_row *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static bool are_in_order(const struct rex_own_row *own, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (own[i].begin < own[i - 1].end)
            return false;
    return true;
}

/*
 * Whether INNER shares OUTER's memory. libomptarget maps a row together with an earlier one that
 * contains it, and then copies as the earlier one says. Rows that overlap in any other way, or ask
 * for more copies, are left to libomptarget.
 */
static bool lies_in(const struct rex_own_row *inner, const struct rex_own_row *outer)
{
    return inner->end <= outer->end && inner->row > outer->row &&
           (inner->type & ~outer->type & REX_MAP_TOFROM) == 0;
}

/* Finds rows that lie in others. The first of equal rows makes all copies. */
static unsigned unite(struct rex_plan *plan)
{
    struct rex_own_row *own = plan->own;
    uint32_t outer = 0;
    if (are_in_order(own, plan->own_count))
        return 0;
    qsort(own, plan->own_count, sizeof *own, by_address);
    for (uint32_t i = 0; i < plan->own_count; i++) {
        bool apart = i == 0 || own[i].begin >= own[outer].end;
        if (!apart && own[i].begin == own[outer].begin && own[i].end == own[outer].end)
            own[outer].type |= own[i].type & REX_MAP_TOFROM;
        if (!apart && !lies_in(&own[i], &own[outer]))
            return REX_REASON_OVERLAP;
        outer = apart ? i : outer;
        own[i].outer = outer;
    }
    return 0;
}

#define LARGEST_ALIGNMENT 512 /* of cuMemAlloc's memory */
#define LEAST_ALIGNMENT 16

/* Gives each row with these DIRECTIONS an offset, aligned as any object of its size may need. */
static size_t append(struct rex_plan *plan, int64_t directions, size_t at)
{
    for (size_t i = 0; i < plan->own_count; i++) {
        struct rex_own_row *own = &plan->own[i];
        size_t size = own->end - own->begin, align = LEAST_ALIGNMENT;
        if (own->outer != i || (own->type & REX_MAP_TOFROM) != directions)
            continue;
        while (align < size && align < LARGEST_ALIGNMENT)
            align *= 2;
        own->offset = (at + align - 1) / align * align;
        at = own->offset + size;
    }
    return at;
}

static void arrange(struct rex_plan *plan)
{
    struct rex_staged *staged = &plan->staged;
    staged->out_begin = append(plan, REX_MAP_TO, 0);
    staged->in = append(plan, REX_MAP_TOFROM, staged->out_begin);
    staged->out_end = append(plan, REX_MAP_FROM, staged->in);
    staged->total = append(plan, 0, staged->out_end);
}

/* ---- the plan -------------------------------------------------------------------------------- */

static int make_room(struct rex_launch_context *context, size_t size)
{
    void *rows = realloc(context->rows, size);
    if (rows == NULL)
        return rex_fail_memory(size, "the rows of a launch");
    context->rows = rows;
    context->rows_size = size;
    return REX_OK;
}

/* Checks the launch. No row is pinned. Returns 0, maybe with fallback reasons, or an error. */
static int check(struct rex_request *request, struct rex_plan *plan)
{
    struct rex_launch_context *context = plan->context;
    uint32_t arguments = 0;
    size_t count = (size_t)plan->map->count;
    size_t row = sizeof *plan->own + sizeof *plan->ranges.range + sizeof *plan->device;
    if ((count + 1) * row > context->rows_size && make_room(context, (count + 1) * row) != REX_OK)
        return REX_ENOMEM;
    plan->own = context->rows;
    plan->ranges.range = (void *)(plan->own + count);
    plan->device = (void *)(plan->ranges.range + count);
    unsigned reasons = read_rows(plan, &arguments);
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
    return plan->packed.kernel != NULL
               ? rex_check_form(&request->target, arguments, request->map, &plan->form)
               : rex_last_error_code();
}

/*
 * Pins the rows, and finds the device address of each or plans its memory. Nothing is pinned if
 * REQUEST has fallback reasons then, or if the launch has to wait. Otherwise lines for the program's
 * function are held back, as by rex_log_hold(): it may launch, and would wait for a launch whose
 * function waits for this one.
 */
static void place_rows(struct rex_request *request, struct rex_plan *plan)
{
    unsigned reasons = plan->ranges.count > 0 ? rex_present_pin(&plan->ranges) : 0;
    if (reasons != 0 || plan->ranges.is_waiting) {
        request->reasons = reasons;
        return;
    }
    rex_thread.holds++; /* no shelter: the gate has one */
    bool stay = !plan->is_mapped && !(plan->types & REX_MAP_ALWAYS);
    for (size_t i = 0; i < plan->ranges.count; i++) {
        const struct rex_range *range = &plan->ranges.range[i];
        if (stay && range->device != 0)
            plan->device[range->row] = range->device;
        else
            reasons |= place_row(plan, range);
    }
    if (plan->has_empty)
        reasons |= reasons_beside_empty(plan);
    if (plan->own_count > 1)
        reasons |= unite(plan);
    bool has_private = (plan->types & REX_MAP_PRIVATE) != 0;
    for (int32_t i = 0; has_private && i < plan->map->count && reasons == 0; i++)
        if (plan->map->types[i] & REX_MAP_PRIVATE)
            add_own(plan, i);
    if (plan->own_count > 0)
        arrange(plan);
    /* Another call may have added a reason while this one waited for its memory. */
    if (reasons == 0 && !plan->is_mapped)
        reasons = rex_process_reasons();
    if (reasons != 0) {
        if (plan->ranges.count > 0)
            rex_present_unpin(&plan->ranges);
        rex_thread.holds--;
    }
    request->reasons = reasons;
}

/* ---- log and trace --------------------------------------------------------------------------- */

void rex_log_backend(const struct rex_target *target, const char *backend, const char *why)
{
    uint8_t before =
        __atomic_fetch_or(&target->kernel->flags, REX_KERNEL_BACKEND_TOLD, __ATOMIC_RELAXED);
    if (before & REX_KERNEL_BACKEND_TOLD)
        return;
    rex_log(REX_LOG_INFO, "kernel \"%.*s\" is launched by %s%s%s", REX_KERNEL_NAME(target->name),
            backend, *why != '\0' ? ": " : "", why);
}

static int run_and_report(const struct rex_request *request, struct rex_plan *plan)
{
    bool traced = rex_trace_on();
    struct rex_call_trace trace = {.packet = rex_request_packet(request)};
    if (rex_log_wanted(REX_LOG_INFO))
        rex_log_backend(&request->target, "the CUDA driver", "");
    if (rex_rows_wanted())
        rex_rows_log(request->target.name, request->number, &trace.packet);
    if (traced)
        rex_call_trace_begin(&trace, "cuLaunchKernel", request->number);
    int result = rex_plan_run(plan);
    if (traced)
        rex_call_trace_launch(&trace, request->target.kernel->entry->addr, result);
    return result;
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* The fallback reasons before the rows are read. */
static unsigned reasons_of(const struct rex_request *request)
{
    const struct rex_target *target = &request->target;
    uint8_t flags = rex_kernel_flags(target->kernel);
    bool is_unknown =
        (flags & REX_KERNEL_MATCHED) != 0 && target->kernel->parameters == REX_PARAMETERS_UNKNOWN;
    bool lacks_columns = request->map->count != 0 && !rex_has_columns(request->map);
    return rex_process_reasons() | target->registration->reasons |
           (flags & REX_KERNEL_MANAGED ? REX_REASON_MODE : 0u) |
           (is_unknown ? REX_REASON_PARAMETERS : 0u) |
           (request->flags & REX_FLAG_NOWAIT ? REX_REASON_NOWAIT : 0u) |
           (request->flags & ~(uint64_t)REX_FLAGS_USUAL ? REX_REASON_FLAGS : 0u) |
           (lacks_columns ? REX_REASON_ROWS : 0u);
}

/*
 * An end waits for the launch. By libomptarget the launch would hold the last reference, and its
 * end would copy the rows back. libomptarget copies, because it knows attached pointers.
 */
static int copy_back(const struct rex_request *request, const struct rex_plan *plan)
{
    int result = REX_OK;
    for (size_t i = 0; i < plan->ranges.count && result == REX_OK; i++) {
        const struct rex_range *range = &plan->ranges.range[i];
        int64_t type = REX_MAP_FROM;
        struct rex_map row = rex_rows_from(plan->map, range->row, 1);
        row.types = &type;
        if (range->is_shared && range->is_changed)
            result = rex_call_data(REX_DATA_UPDATE, request->target.name, request->number, &row);
    }
    return result;
}

/* Plans and runs the launch, unless it has to wait for other calls. */
static int launch(struct rex_request *request, bool is_mapped, struct rex_table_wait *wait,
                  bool *is_waiting)
{
    const struct rex_target *target = &request->target;
    struct rex_plan plan = {.map = request->map,
                            .ranges = {.number = request->number, .wait = *wait},
                            .is_mapped = is_mapped,
                            .is_exact = target->registration->exact_rows,
                            .release = target->registration->release,
                            .is_pageable = true};
    int ordinal = -1, entered, result = rex_device_lost(request->number, target->name);
    if (result == REX_OK)
        result = rex_device_known_ordinal(request->number, &ordinal);
    if (result == REX_OK && ordinal < 0)
        request->reasons = REX_REASON_DEVICE;
    else if (result == REX_OK)
        result = rex_launch_context_take(ordinal, target->name, &plan.context, &entered);
    if (plan.context == NULL)
        return result;
    result = check(request, &plan);
    if (result == REX_OK && request->reasons == 0)
        place_rows(request, &plan);
    *wait = plan.ranges.wait;
    *is_waiting = plan.ranges.is_waiting;
    if (result == REX_OK && request->reasons == 0 && !*is_waiting) {
        result = rex_log_wanted(REX_LOG_INFO) || rex_trace_on() ? run_and_report(request, &plan)
                                                                : rex_plan_run(&plan);
        if (result == REX_OK && plan.ranges.count > 0 && rex_present_is_awaited(&plan.ranges))
            result = copy_back(request, &plan);
        if (plan.ranges.count > 0)
            rex_present_unpin(&plan.ranges);
        rex_thread.holds--;
    }
    rex_launch_context_give(plan.context, entered);
    if (rex_thread.holds == 0 && rex_thread.has_held_lines)
        rex_log_say_held();
    return result;
}

int rex_launch_by_driver(struct rex_request *request, bool is_mapped)
{
    request->reasons = is_mapped ? 0 : reasons_of(request);
    /* An error of the device is left to the launch by libomptarget, which reports it. */
    if (request->reasons == 0 && request->is_packet &&
        rex_device_offload(request->device, &request->number) != REX_OK)
        request->reasons = REX_REASON_DEVICE;
    if (request->reasons != 0)
        return REX_OK;
    struct rex_table_wait wait = {.size = 0};
    for (;;) {
        bool is_waiting = false;
        int result = launch(request, is_mapped, &wait, &is_waiting);
        if (!is_waiting)
            return result;
        rex_present_wait(&wait);
    }
}
