/*
 * tracecalls.c - the functions that stand in forward.c's table while something is traced: they note
 * a call and pass it on.
 *
 * libomptarget's own calls come back through the table, since it is linked without -Bsymbolic:
 * __tgt_target_teams of LLVM 19 calls
 * __tgt_target_teams_mapper, and that __tgt_target_kernel. What a thread calls within a call is not
 * noted.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/grid.h"
#include "omp/mapping.h"
#include "omp/runtime.h"
#include "trace/trace.h"
#include "trace/traceline.h"

static struct rex_entry_points real; /* what was in the table */

struct call {
    bool noted;
    const char *function; /* of libomptarget */
    int64_t device;
    struct rex_track *on; /* the device's */
    uint64_t begin, end;
    /* The rows. */
    int64_t count;
    void **addresses;
    const int64_t *sizes, *types;
    /* A launch. */
    const void *key;
    struct rex_grid grid;
    uint64_t trip_count;
    int result;
};

/* ---- what is written ------------------------------------------------------------------------- */

static void put_call(struct rex_line *line, const struct call *call)
{
    rex_line_text(line, "\"function\":\"");
    rex_line_text(line, call->function);
    rex_line_text(line, "\",\"device\":");
    rex_line_number(line, call->device);
}

static void put_data(struct rex_line *line, const void *context)
{
    const struct call *call = context;
    put_call(line, call);
    rex_line_rows(line, call->count, call->addresses, call->sizes, call->types);
}

static void put_launch(struct rex_line *line, const void *context)
{
    const struct call *call = context;
    put_call(line, call);
    rex_line_launch(line, call->key, call->grid.teams, call->grid.threads, call->count);
    if (call->grid.dynamic_memory > 0)
        rex_line_add(line, ",\"dynamic_memory\":%u", call->grid.dynamic_memory);
    if (call->trip_count > 0)
        rex_line_add(line, ",\"trip_count\":%llu", (unsigned long long)call->trip_count);
    rex_line_text(line, ",\"result\":");
    rex_line_number(line, call->result);
    rex_line_rows(line, call->count, call->addresses, call->sizes, call->types);
}

/* ---- before and after a call ----------------------------------------------------------------- */

/* librex's own look at what is mapped is no call of the program's. */
static struct call enter(const char *function, int64_t device, int64_t count, void **begin,
                         const int64_t *sizes, const int64_t *types)
{
    struct call call = {.noted = rex_trace_depth++ == 0 && !rex_looking_up && rex_trace_on(),
                        .function = function,
                        .count = count,
                        .addresses = begin,
                        .sizes = sizes,
                        .types = types};
    if (!call.noted)
        return call;
    call.device = device == -1 ? rex_runtime_default_device() : device;
    call.on = rex_track_take(call.device);
    call.begin = rex_trace_clock();
    return call;
}

static void note(struct call *call, const char *name, enum rex_counted counted, int64_t directions)
{
    bool launch = counted == REX_COUNTED_KERNEL;
    struct rex_slice slice = {.name = name,
                              .category = launch ? "launch" : "data",
                              .counted = counted,
                              .begin = call->begin,
                              .end = call->end,
                              .on = call->on,
                              .details = launch ? put_launch : put_data,
                              .context = call};
    if (directions & REX_TYPE_TO)
        slice.to =
            rex_rows_bytes(call->count, call->addresses, call->sizes, call->types, REX_TYPE_TO);
    if (directions & REX_TYPE_FROM)
        slice.from =
            rex_rows_bytes(call->count, call->addresses, call->sizes, call->types, REX_TYPE_FROM);
    rex_trace_slice(&slice);
    rex_track_give(call->on);
}

static void leave_data(struct call *call, const char *name, int64_t directions)
{
    rex_trace_depth--;
    if (!call->noted)
        return;
    call->end = rex_trace_clock();
    note(call, rex_trace_called != NULL ? rex_trace_called : name, REX_COUNTED_TRANSFER,
         directions);
}

static void leave_launch(struct call *call, const void *key, int result)
{
    rex_trace_depth--;
    if (!call->noted)
        return;
    call->end = rex_trace_clock();
    call->key = key;
    call->result = result;
    const char *name = rex_trace_name(key);
    note(call, name != NULL ? name : "unknown kernel", REX_COUNTED_KERNEL, REX_TYPE_TOFROM);
}

/* ---- the functions --------------------------------------------------------------------------- */

#define DATA(name, parameters, arguments, what, directions)                           \
    static void traced_##name parameters                                              \
    {                                                                                 \
        struct call call = enter("__tgt_" #name, device, count, begin, sizes, types); \
        real.name arguments;                                                          \
        leave_data(&call, what, directions);                                          \
    }
#define BEGINNING(type, name, parameters, arguments, missing) \
    DATA(name, parameters, arguments, "data begin", REX_TYPE_TO)
#define ENDING(type, name, parameters, arguments, missing) \
    DATA(name, parameters, arguments, "data end", REX_TYPE_FROM)
#define UPDATING(type, name, parameters, arguments, missing) \
    DATA(name, parameters, arguments, "data update", REX_TYPE_TOFROM)
REX_BEGINNING(BEGINNING)
REX_ENDING(ENDING)
REX_UPDATING(UPDATING)

#define LAUNCH(name, parameters, arguments, teams_given, threads_given)               \
    static int traced_##name parameters                                               \
    {                                                                                 \
        struct call call = enter("__tgt_" #name, device, count, begin, sizes, types); \
        call.grid = rex_grid_of_call(teams_given, threads_given);                     \
        int result = real.name arguments;                                             \
        leave_launch(&call, key, result);                                             \
        return result;                                                                \
    }
#define LAUNCHING(type, name, parameters, arguments, missing) \
    LAUNCH(name, parameters, arguments, 1, 0)
#define LAUNCHING_TEAMS(type, name, parameters, arguments, missing) \
    LAUNCH(name, parameters, arguments, teams, threads)
#define LAUNCHING_PACKET(type, name, parameters, arguments, missing)                \
    static int traced_##name parameters                                             \
    {                                                                               \
        struct call call = enter("__tgt_" #name, device, args->NumArgs, args->Args, \
                                 args->ArgSizes, args->ArgTypes);                   \
        /* Before the call: libomptarget changes the packet. */                     \
        call.trip_count = args->Tripcount;                                          \
        call.grid = rex_grid_of_packet(args, teams, threads);                       \
        int result = real.name arguments;                                           \
        leave_launch(&call, key, result);                                           \
        return result;                                                              \
    }
REX_LAUNCHING(LAUNCHING)
REX_LAUNCHING_TEAMS(LAUNCHING_TEAMS)
REX_LAUNCHING_PACKET(LAUNCHING_PACKET)

static void traced_register_lib(struct __tgt_bin_desc *desc)
{
    uint64_t begin = rex_phase_begin();
    rex_trace_depth++;
    real.register_lib(desc);
    rex_trace_depth--;
    rex_phase_end(begin, "__tgt_register_lib", NULL);
}

static void traced_unregister_lib(struct __tgt_bin_desc *desc)
{
    uint64_t begin = rex_phase_begin();
    rex_trace_depth++;
    real.unregister_lib(desc);
    rex_trace_depth--;
    rex_phase_end(begin, "__tgt_unregister_lib", NULL);
}

void rex_trace_calls(struct rex_entry_points *slots)
{
    real = *slots;
#define TRACE(type, name, parameters, arguments, missing) slots->name = traced_##name;
    REX_BEGINNING(TRACE)
    REX_ENDING(TRACE)
    REX_UPDATING(TRACE)
    REX_LAUNCHING(TRACE)
    REX_LAUNCHING_TEAMS(TRACE)
    REX_LAUNCHING_PACKET(TRACE)
    slots->register_lib = traced_register_lib;
    slots->unregister_lib = traced_unregister_lib;
#undef TRACE
}
