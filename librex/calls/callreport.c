/*
 * callreport.c - reports calls to libomptarget: logs the rows of a call, and writes a slice of the
 * call to the trace.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "calls/callreport.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cuda/pinned.h"
#include "omp/device.h"
#include "rex/map.h"
#include "trace/trace.h"
#include "trace/tracetext.h"

#define LITERAL 0x100

/* ---- in the log ------------------------------------------------------------------------------ */

void rex_rows_log(const char *what, int64_t device, const struct __tgt_kernel_arguments *packet)
{
    const int32_t *teams = packet->Teams, *threads = packet->Threads;
    char type[REX_TYPE_MAX], name[256];
    if (teams[0] != 0)
        rex_log(REX_LOG_DEBUG,
                "%.*s: device %" PRId64 ", %d x %d x %d teams of %d x %d x %d threads, %d bytes of "
                "dynamic shared memory, rows: %d",
                REX_KERNEL_NAME(what), device, teams[0], teams[1], teams[2], threads[0], threads[1],
                threads[2], packet->DynCGroupMem, packet->NumArgs);
    else
        rex_log(REX_LOG_DEBUG, "%.*s: device %" PRId64 ", rows: %d", REX_KERNEL_NAME(what), device,
                packet->NumArgs);
    for (uint32_t row = 0; (int32_t)row < packet->NumArgs; row++) {
        const char *base = packet->ArgsBase[row], *begin = packet->Args[row];
        const char *given = packet->ArgNames != NULL ? packet->ArgNames[row] : NULL;
        const char *mapper = "";
        int64_t size = packet->ArgSizes[row];
        if (packet->ArgMappers != NULL && packet->ArgMappers[row] != NULL)
            mapper = ", through a mapper";
        rex_type_text(packet->ArgTypes[row], type);
        /* clang writes ";x[0:n];file.c;12;3;;"; other generators write the name alone. */
        if (given != NULL && *given == ';')
            given++;
        if (given != NULL)
            snprintf(name, sizeof name, "%.*s", (int)strcspn(given, ";"), given);
        else
            snprintf(name, sizeof name, "%p", (void *)(uintptr_t)begin);
        if (packet->ArgTypes[row] & LITERAL)
            rex_log(REX_LOG_DEBUG, "%.*s: row %u: %s %s%s0x%" PRIxPTR ", %" PRId64 " bytes",
                    REX_KERNEL_NAME(what), row, type, packet->ArgNames != NULL ? name : "",
                    packet->ArgNames != NULL ? " = " : "", (uintptr_t)base, size);
        else if (begin == base)
            rex_log(REX_LOG_DEBUG, "%.*s: row %u: %s %s %" PRId64 " bytes%s", REX_KERNEL_NAME(what),
                    row, type, name, size, mapper);
        else
            rex_log(REX_LOG_DEBUG, "%.*s: row %u: %s %s %" PRId64 " bytes, base %p%s",
                    REX_KERNEL_NAME(what), row, type, name, size, packet->ArgsBase[row], mapper);
    }
}

/* ---- in the trace ---------------------------------------------------------------------------- */

static void write_traced_call(struct rex_line *line, const void *context)
{
    const struct rex_call_trace *trace = context;
    const struct __tgt_kernel_arguments *packet = &trace->packet;
    rex_line_text(line, "\"function\":\"");
    rex_line_text(line, trace->function);
    rex_line_number(line, "\",\"device\":", trace->device);
    if (trace->is_launch) {
        rex_line_launch(line, trace->key, (const uint32_t *)packet->Teams,
                        (const uint32_t *)packet->Threads, packet->NumArgs);
        if (packet->DynCGroupMem != 0)
            rex_line_number(line, ",\"dynamic_memory\":", packet->DynCGroupMem);
        if (packet->Tripcount > 0)
            rex_line_number(line, ",\"trip_count\":", packet->Tripcount);
        rex_line_number(line, ",\"result\":", trace->result);
    }
    if (trace->is_deferred)
        rex_line_string(line, ",\"kernel\":", trace->kernel);
    if (trace->is_deferred && trace->is_awaited)
        rex_line_text(line, ",\"awaited\":true");
    rex_line_rows(line, packet->NumArgs, packet->Args, packet->ArgSizes, packet->ArgTypes,
                  rex_is_pinned);
}

/* ---- before and after a traced call --------------------------------------------------------- */

void rex_call_trace_begin(struct rex_call_trace *trace, const char *function, int64_t device)
{
    trace->function = function;
    trace->device = device == -1 ? rex_openmp_default_device() : device;
    trace->on = rex_track_take(trace->device);
    trace->begin = rex_trace_clock();
}

static void write_down(struct rex_call_trace *trace, struct rex_slice *slice, int64_t directions)
{
    const struct __tgt_kernel_arguments *packet = &trace->packet;
    slice->begin = trace->begin;
    slice->end = trace->end;
    if (directions & REX_MAP_TO)
        slice->to = rex_rows_bytes(packet->NumArgs, packet->Args, packet->ArgSizes,
                                   packet->ArgTypes, REX_MAP_TO);
    if (directions & REX_MAP_FROM)
        slice->from = rex_rows_bytes(packet->NumArgs, packet->Args, packet->ArgSizes,
                                     packet->ArgTypes, REX_MAP_FROM);
    slice->on = trace->on;
    slice->context = trace;
    rex_trace_slice(slice);
    rex_track_drop(trace->on);
}

void rex_call_trace_data(struct rex_call_trace *trace, const char *name, int64_t directions)
{
    struct rex_slice slice = {.name = name,
                              .category = "data",
                              .counted = REX_COUNTED_TRANSFER,
                              .details = write_traced_call};
    trace->end = rex_trace_clock();
    write_down(trace, &slice, directions);
}

void rex_call_trace_launch(struct rex_call_trace *trace, const void *key, int result)
{
    char because[REX_REASON_MAX];
    struct rex_slice slice = {
        .category = "launch", .counted = REX_COUNTED_KERNEL, .details = write_traced_call};
    trace->end = rex_trace_clock();
    trace->is_launch = true;
    trace->key = key;
    trace->result = result;
    const char *name = rex_trace_name(key);
    slice.name = trace->kernel = name != NULL ? name : "unknown kernel";
    slice.by = trace->reason.mask == 0 ? REX_TRACE_DRIVER : REX_TRACE_RUNTIME;
    /* Without a GPU only libomptarget can launch, so no reason is written. */
    if (trace->reason.mask != 0 && (trace->reason.mask & REX_REASON_NO_GPU) == 0) {
        rex_reason_text(trace->reason, because);
        slice.because = because;
    }
    /*
     * The kernel of a deferred launch has a slice of its own, so the slice of the call must not
     * count the kernel again. A launch that failed has no slice for its kernel.
     */
    trace->is_deferred &= result == REX_OK;
    if (trace->is_deferred) {
        slice.name = "deferred launch";
        slice.counted = REX_COUNTED_NOWHERE;
        slice.is_deferred = !trace->is_awaited;
        rex_track_drop(trace->on);
        trace->on = NULL;
    }
    write_down(trace, &slice, REX_MAP_TOFROM);
}
