/*
 * bydriver.c - launches by the CUDA driver, except launches in queues. Finds the fallback reasons,
 * runs the launch, logs it and traces it.
 *
 * On an H100 a launch by the driver with a few mapped rows takes half the time of a launch by
 * libomptarget. With 256 rows, a launch by the driver takes a sixteenth.
 *
 * If a launch has a fallback reason, libomptarget launches instead. Example of a reason: the result
 * of the driver's launch would differ. omp/backend.h lists the reasons.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/bydriver.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"
#include "calls/callreport.h"
#include "calls/calls.h"
#include "cuda/lost.h"
#include "launch/check.h"
#include "launch/defer.h"
#include "launch/run.h"
#include "memory/data.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "trace/trace.h"

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

/* Logs the launch, and begins TRACE if the process is traced. */
static void begin_report(const struct rex_request *request, struct rex_call_trace *trace)
{
    *trace = (struct rex_call_trace){.packet = rex_request_packet(request)};
    if (rex_log_wanted(REX_LOG_INFO))
        rex_log_backend(&request->target, "the CUDA driver", "");
    if (rex_rows_wanted())
        rex_rows_log(request->target.name, request->number, &trace->packet);
    if (rex_trace_on())
        rex_call_trace_begin(trace,
                             request->grid.attributes != 0 ? "cuLaunchKernelEx" : "cuLaunchKernel",
                             request->number);
}

static inline bool is_reported(void)
{
    return rex_log_wanted(REX_LOG_INFO) || rex_trace_on();
}

static int run_and_report(const struct rex_request *request, struct rex_plan *plan)
{
    struct rex_call_trace trace;
    begin_report(request, &trace);
    int result = rex_plan_run(plan);
    if (trace.function != NULL)
        rex_call_trace_launch(&trace, request->target.kernel->entry->addr, result);
    return result;
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* The state of a launch that may have to wait before it runs. */
struct waits {
    struct rex_table_wait table;
    enum {
        FOR_NOTHING, /* the launch does not wait */
        FOR_TABLE,   /* the launch waits for another call that uses its memory */
        FOR_DEFERRED /* the launch waits for the deferred launches of the device */
    } next;
    bool defers;     /* REX_LAUNCH_BLOCKING=off allows librex to defer this launch */
    bool is_ordered; /* deferred launches were already waited for, so this launch need not wait */
};

/*
 * Puts the kernel of PLAN in the stream of deferred launches, and ends the plan. Call this after
 * rex_plan_place(). If there is no such stream, launches nothing, and sets `next` of WAITS to
 * FOR_DEFERRED. Returns 0 or an error.
 */
static int defer_plan(const struct rex_request *request, struct rex_plan *plan, struct waits *waits)
{
    const struct rex_target *target = &request->target;
    struct rex_call_trace trace = {.function = NULL};
    if (is_reported())
        begin_report(request, &trace);
    int result = rex_plan_defer(plan);
    rex_plan_end(plan);
    if (result == REX_OK && plan->ranges.launch == 0) {
        waits->defers = false;
        waits->next = FOR_DEFERRED;
        if (trace.function != NULL)
            rex_track_drop(trace.on);
        return REX_OK;
    }
    if (plan->ranges.is_shown && result == REX_OK) {
        rex_deferred_wait_for(request->number, plan->ranges.launch);
        result = rex_device_lost(request->number, target->name);
    }
    trace.is_deferred = plan->ranges.launch > 0;
    trace.is_awaited = plan->ranges.is_shown;
    if (trace.function != NULL)
        rex_call_trace_launch(&trace, target->kernel->entry->addr, result);
    return result;
}

/* Returns true if PLAN has ended: the launch is deferred, has failed, or must be planned again. */
static __attribute__((noinline)) bool is_deferred(const struct rex_request *request,
                                                  struct rex_plan *plan, struct waits *waits,
                                                  int *result)
{
    if (waits->defers && rex_plan_may_defer(plan)) {
        *result = defer_plan(request, plan, waits);
        return true;
    }
    if (waits->is_ordered || !rex_is_deferred(request->number))
        return false;
    rex_plan_end(plan);
    waits->next = FOR_DEFERRED;
    return true;
}

/*
 * Plans and runs the launch. If the launch has to wait first, only sets `next` of WAITS. Returns 0
 * or an error.
 */
static int plan_and_run(struct rex_request *request, bool is_mapped, struct waits *waits)
{
    const struct rex_target *target = &request->target;
    struct rex_plan plan = {.map = request->map,
                            .ranges = {.number = request->number, .wait = waits->table},
                            .is_mapped = is_mapped,
                            .is_exact = target->registration->exact_rows,
                            .release = target->registration->release,
                            .is_pageable = true};
    int ordinal = -1, entered = -1;
    int result = rex_device_lost(request->number, target->name);
    if (result != REX_OK)
        return result;
    result = rex_device_known_ordinal(request->number, &ordinal);
    if (result != REX_OK)
        return result;
    if (ordinal < 0) {
        request->reasons = REX_REASON_DEVICE;
        return REX_OK;
    }
    result = rex_launch_context_take(ordinal, target->name, &plan.context, &entered);
    if (result != REX_OK)
        return result;
    result = rex_plan_check(request, &plan);
    if (result != REX_OK || request->reasons != 0)
        goto give_context;
    rex_plan_place(request, &plan);
    if (plan.ranges.is_waiting) {
        waits->table = plan.ranges.wait;
        waits->next = FOR_TABLE;
        goto give_context;
    }
    if (request->reasons != 0)
        goto give_context;
    if (REX_UNLIKELY(waits->defers || rex_is_any_deferred()) &&
        is_deferred(request, &plan, waits, &result))
        goto give_context;
    result = REX_UNLIKELY(is_reported()) ? run_and_report(request, &plan) : rex_plan_run(&plan);
    bool is_awaited =
        result == REX_OK && plan.ranges.count > 0 && rex_present_is_awaited(&plan.ranges);
    /*
     * Another thread is ending a mapping of these rows, and waits for this launch. If libomptarget
     * made the launch, the other thread would not wait: the launch would drop the last reference to
     * the rows, and would copy the rows back. So copy the rows back now. libomptarget makes the
     * copies, because libomptarget knows attached pointers.
     *
     * A deferred launch needs no such copy. The program cannot know whether the kernel of a
     * deferred launch still ran when the other thread began to end the mapping.
     */
    for (size_t i = 0; is_awaited && result == REX_OK && i < plan.ranges.count; i++) {
        const struct rex_range *range = &plan.ranges.range[i];
        int64_t type = REX_MAP_FROM;
        if (!range->is_shared || !range->is_changed)
            continue;
        struct rex_map row = rex_rows_from(plan.map, range->row, 1);
        row.types = &type;
        result = rex_call_data(REX_DATA_UPDATE, target->name, request->number, &row);
    }
    rex_plan_end(&plan);
give_context:
    rex_launch_context_give(plan.context, entered);
    if (rex_thread.holds == 0 && rex_thread.has_held_lines)
        rex_log_say_held();
    return result;
}

/*
 * Plans and runs the launch. If the launch has to wait, waits, and plans the launch again. During a
 * wait the thread has no launch context and no pinned rows.
 */
static int plan_until_run(struct rex_request *request, bool is_mapped)
{
    struct waits waits = {.defers = !is_mapped && !rex_launches_block(), .is_ordered = is_mapped};
    for (;;) {
        uint64_t full = REX_UNLIKELY(waits.defers) ? rex_deferred_full(request->number) : 0;
        if (full > 0)
            rex_await_launch(request->number, full);
        waits.next = FOR_NOTHING;
        int result = plan_and_run(request, is_mapped, &waits);
        if (waits.next == FOR_NOTHING)
            return result;
        if (waits.next == FOR_TABLE)
            rex_present_wait(&waits.table);
        else {
            rex_await_deferred(request->number);
            waits.is_ordered = true;
        }
    }
}

int rex_launch_by_driver(struct rex_request *request)
{
    const struct rex_target *target = &request->target;
    unsigned reasons = rex_process_reasons() | target->registration->reasons;
    uint8_t flags = rex_kernel_flags(target->kernel);
    if (flags & REX_KERNEL_MANAGED)
        reasons |= REX_REASON_MODE;
    if (target->kernel->parameters == REX_PARAMETERS_UNKNOWN)
        reasons |= REX_REASON_PARAMETERS;
    if (request->flags & REX_FLAG_NOWAIT)
        reasons |= REX_REASON_NOWAIT;
    if (request->flags & ~(uint64_t)REX_FLAGS_USUAL)
        reasons |= REX_REASON_FLAGS;
    if (request->map->count != 0 && !rex_has_columns(request->map))
        reasons |= REX_REASON_ROWS;
    /*
     * If the device does not exist, the launch by libomptarget reports the error. Set `number` even
     * if the driver cannot launch because librex does not see all calls: rex_launch_with_mapping()
     * needs `number`.
     */
    if ((reasons & ~(unsigned)REX_REASON_UNSEEN_CALLS) == 0 && request->is_packet &&
        rex_device_offload(request->device, &request->number) != REX_OK)
        reasons |= REX_REASON_DEVICE;
    request->reasons = reasons;
    if (reasons != 0)
        return REX_OK;
    return plan_until_run(request, false);
}

/* ---- rows that libomptarget maps ------------------------------------------------------------- */

/*
 * libomptarget of LLVM 18 cannot launch a plain kernel (a kernel without a parameter for the
 * runtime) on a GPU, so the driver has to launch it. The driver's launch cannot handle rows that
 * have a reason of REASONS_OF_MAPPING, but a data call to libomptarget can map such rows. So for
 * such rows librex makes the launch in three steps:
 * - A data call to libomptarget maps the rows.
 * - The driver launches the kernel.
 * - A data call to libomptarget unmaps the rows.
 *
 * Each step waits for the device, but a launch by libomptarget waits only once. So if the
 * libomptarget of an LLVM release can launch the kernel, libomptarget launches.
 */

/* Fallback reasons that do not matter after libomptarget has mapped the rows by a data call. */
#define REASONS_OF_MAPPING                                                      \
    ((unsigned)(REX_REASON_UNSEEN_CALLS | REX_REASON_MAPPER | REX_REASON_TYPE | \
                REX_REASON_BESIDE | REX_REASON_LOOSE | REX_REASON_UNSEEN | REX_REASON_OVERLAP))

/*
 * Copies to *MAPPED the rows of MAP that a data call maps. A value or private memory becomes a row
 * of zeros, so that the numbers of the other rows do not change. The caller frees MAPPED->base.
 * Returns 0 or REX_ENOMEM.
 */
static int copy_rows_to_map(const struct rex_map *map, const char *name, struct rex_map *mapped)
{
    size_t count = (size_t)map->count, row = 2 * sizeof(void *) + 2 * sizeof(int64_t);
    *mapped = *map;
    mapped->base = calloc(count, row);
    if (mapped->base == NULL)
        return rex_fail_memory(count * row, name);
    mapped->begin = mapped->base + count;
    mapped->sizes = (void *)(mapped->begin + count);
    mapped->types = mapped->sizes + count;
    for (int32_t i = 0; i < map->count; i++) {
        if (map->types[i] & REX_MAP_NOT_MAPPED)
            continue;
        mapped->base[i] = map->base[i];
        mapped->begin[i] = map->begin[i];
        mapped->sizes[i] = map->sizes[i];
        mapped->types[i] = map->types[i] & ~REX_MAP_TARGET_PARAM;
    }
    return REX_OK;
}

int rex_launch_with_mapping(struct rex_request *request)
{
    const struct rex_target *target = &request->target;
    enum rex_kernel_form form = REX_FORM_UNKNOWN;
    unsigned reasons = request->reasons;
    struct rex_map mapped;
    if (!target->registration->release->plain.refused ||
        (rex_kernel_flags(target->kernel) & REX_KERNEL_CALLED))
        return REX_OK;
    /*
     * If librex does not see all calls, rex_launch_by_driver() has not read the rows. Read the rows
     * here.
     */
    for (int32_t i = 0; i < request->map->count && (reasons & ~REASONS_OF_MAPPING) == 0; i++)
        reasons |= rex_reasons_of_row(request->map, i);
    if ((reasons & ~REASONS_OF_MAPPING) != 0)
        return REX_OK;
    int result = rex_check_form_of(target, request->map, &form);
    if (result == REX_OK && form != REX_FORM_PLAIN)
        return REX_OK;
    request->reasons = 0;
    if (result != REX_OK)
        return result;
    result = copy_rows_to_map(request->map, target->name, &mapped);
    if (result != REX_OK)
        return result;
    result = rex_map_for_launch(target->registration->module, request->device, &mapped);
    if (result != REX_OK)
        goto free_rows;
    result = plan_until_run(request, true);
    /* After an error, do not copy the rows back, because no kernel has written to them. */
    for (int32_t i = 0; result != REX_OK && i < mapped.count; i++)
        mapped.types[i] &= ~REX_MAP_FROM;
    int ended = rex_unmap_after_launch(request->device, &mapped);
    if (result == REX_OK)
        result = ended;
free_rows:
    free(mapped.base);
    return result;
}
