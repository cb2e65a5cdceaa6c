/*
 * calls.c - calls of libomptarget: librex's own calls, and the program's calls through the
 * forwarders (calls/forward.c).
 *
 * libomptarget is linked without -Bsymbolic, so calls between its exported functions come back
 * through the forwarders. For example, __tgt_target_teams of LLVM 19 calls
 * __tgt_target_teams_mapper, which calls __tgt_target_kernel. Such a nested call is not traced and
 * not logged, and no registration delays it. librex itself calls the innermost functions.
 *
 * The gate counts calls of libomptarget in flight, and can keep threads out (omp/gate.h). The
 * present table has the mappings on each device and the calls that use them (present/present.h).
 * For the gate and for the table, a nested call is a part of the outer call.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "calls/calls.h"

#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "calls/callreport.h"
#include "cuda/lost.h"
#include "omp/columns.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "omp/grid.h"
#include "omp/runtime.h"
#include "present/lookup.h"
#include "present/presentcalls.h"
#include "trace/trace.h"

/* Written when libomptarget is bound. */
static struct {
    struct rex_entry_points call; /* libomptarget's functions */
    bool observed;                /* calls are traced, or logged, or both */
    bool logged;                  /* the program's calls are logged */
    bool watched; /* the program's calls enter the present table (present/present.h) */
} bound;

/* ---- before and after a call ----------------------------------------------------------------- */

/*
 * Logs a call of the program. The callers of rex_call_data() and rex_call_kernel() log librex's own
 * calls. Call log_call() before the logged call enters the gate and the present table, because the
 * program's log function may launch kernels.
 */
static void log_call(const char *what, int64_t device, const struct __tgt_kernel_arguments *packet)
{
    if (rex_trace_depth == 0 && bound.logged && rex_rows_wanted())
        rex_rows_log(what, device, packet);
}

static struct rex_map map_of_packet(const struct __tgt_kernel_arguments *packet)
{
    return (struct rex_map){
        (int32_t)packet->NumArgs, packet->ArgsBase,   packet->Args, packet->ArgSizes,
        packet->ArgTypes,         packet->ArgMappers, NULL};
}

/*
 * Enters the present table with the rows of PACKET. Returns true if the call has to leave the table
 * later. Call the function before the call enters the gate, because the function may wait for other
 * calls.
 */
static bool enter_table(enum rex_present_call call, const struct __tgt_kernel_arguments *packet,
                        int64_t device)
{
    struct rex_map map = map_of_packet(packet);
    if (!bound.watched || rex_gate_is_closed())
        return false;
    if (!rex_has_columns(&map)) {
        rex_await_deferred(rex_openmp_number(device)); /* a launch without rows */
        return false;
    }
    rex_present_enter(call, &map, rex_openmp_number(device));
    return true;
}

/*
 * Leaves the present table if ENTERED is true. LATER must be true if the call may have returned
 * before its kernel or its copies are done (a nowait call).
 */
static void leave_table(bool entered, enum rex_present_call call,
                        const struct __tgt_kernel_arguments *packet, int64_t device, bool later)
{
    struct rex_map map = map_of_packet(packet);
    if (entered)
        rex_present_leave(call, &map, rex_openmp_number(device),
                          later ? REX_LEFT_UNSURE : REX_LEFT_DONE);
}

/*
 * Begins a call. Traces the call if FUNCTION is not NULL and the call is not nested in another
 * call.
 */
static void begin_call(struct rex_call_trace *trace, const char *function, int64_t device)
{
    if (rex_trace_depth++ == 0 && function != NULL && rex_trace_on())
        rex_call_trace_begin(trace, function, device);
}

static void leave_data(struct rex_call_trace *trace, const char *name, int64_t directions)
{
    rex_trace_depth--;
    if (trace->function != NULL)
        rex_call_trace_data(trace, name, directions);
}

static int leave_launch(struct rex_call_trace *trace, const void *key, int result)
{
    rex_trace_depth--;
    if (trace->function != NULL)
        rex_call_trace_launch(trace, key, result);
    return result;
}

/* ---- lost devices, and images that cannot be loaded ------------------------------------------ */

/*
 * Returns REX_ECUDA if DEVICE is lost, because libomptarget would abort. Otherwise returns the
 * result of rex_load_check(), which may test whether libomptarget can load the images on DEVICE.
 * Call this inside the gate, so that no module ends during the test.
 */
static int check_data_call(int64_t device, const char *what)
{
    if (rex_any_device_is_lost()) {
        int result = rex_device_lost(rex_openmp_number(device), what);
        if (result != REX_OK)
            return result;
    }
    return rex_load_check(device);
}

static int check_kernel_call(int64_t device, const void *key)
{
    if (!rex_any_device_is_lost())
        return rex_load_check(device);
    const char *name = rex_trace_name(key);
    return check_data_call(device, name != NULL ? name : "a launch");
}

/* ---- librex's calls -------------------------------------------------------------------------- */

/*
 * For each data call: libomptarget's innermost function, the call's names in a trace and a log, and
 * the directions in which the call copies.
 */
static const struct data_kind {
    void (**function)(MAPPER_P);
    const char *traced, *logged;
    int64_t directions;
} data_kinds[] = {[REX_DATA_BEGIN] = {&bound.call.target_data_begin_mapper,
                                      "__tgt_target_data_begin_mapper", "data begin", REX_MAP_TO},
                  [REX_DATA_END] = {&bound.call.target_data_end_mapper,
                                    "__tgt_target_data_end_mapper", "data end", REX_MAP_FROM},
                  [REX_DATA_UPDATE] = {&bound.call.target_data_update_mapper,
                                       "__tgt_target_data_update_mapper", "data update",
                                       REX_MAP_TOFROM}};

static void make_observed_call(enum rex_data_call call, const char *name, int64_t device,
                               const struct rex_map *map)
{
    const struct data_kind *kind = &data_kinds[call];
    struct rex_call_trace trace;
    if (bound.observed) {
        trace = (struct rex_call_trace){.packet = rex_packet_of_map(map)};
        begin_call(&trace, name != NULL ? kind->traced : NULL, device);
    }
    (*kind->function)(NULL, device, map->count, map->base, map->begin, map->sizes, map->types, NULL,
                      map->mappers);
    if (bound.observed)
        leave_data(&trace, name, kind->directions);
}

int rex_call_data(enum rex_data_call call, const char *name, int64_t device,
                  const struct rex_map *map)
{
    /*
     * NAME is NULL only for a call without rows. Such a call maps and copies nothing, so it needs
     * no check for a lost device.
     */
    int result = REX_OK;
    /* The caller may have waited for a kernel whose failure lost the device. */
    if (name != NULL && rex_any_device_is_lost())
        result = rex_device_lost(rex_openmp_number(device), name);
    if (result == REX_OK)
        result = rex_devices_enter();
    if (result != REX_OK)
        return result;
    /*
     * For device -1 libomptarget asks libomp for the default device. libomp would crash in a thread
     * that has run libomp's destructor. So pass the number of the default device.
     */
    if (rex_thread.ends > 0)
        device = rex_openmp_number(device);
    result = rex_load_check(device);
    if (result != REX_OK) {
        rex_gate_leave();
        return result;
    }
    bool ends = call == REX_DATA_END && name != NULL && rex_ending_begin(rex_openmp_number(device));
    make_observed_call(call, name, device, map);
    if (ends)
        rex_ending_end(rex_openmp_number(device));
    rex_gate_used();
    rex_gate_leave();
    return REX_OK;
}

int rex_call_kernel(ident_t *loc, int64_t device, const void *key,
                    struct __tgt_kernel_arguments *packet, struct rex_reason reason, int *returned)
{
    int32_t teams = packet->Teams[0], threads = packet->Threads[0];
    void *host_key = (void *)(uintptr_t)key;
    /*
     * Check again: the caller may have waited outside of the gate, and the process may be ending by
     * now.
     */
    int result = rex_gate_check();
    if (result != REX_OK)
        return result;
    if (rex_thread.ends > 0) /* libomp would crash on device -1: see rex_call_data() */
        device = rex_openmp_number(device);
    result = check_kernel_call(device, key);
    if (result == REX_OK && bound.observed) {
        struct rex_call_trace trace = {.packet = *packet, .reason = reason};
        begin_call(&trace, "__tgt_target_kernel", device);
        *returned = bound.call.target_kernel(loc, device, teams, threads, host_key, packet);
        leave_launch(&trace, key, *returned);
    } else if (result == REX_OK) {
        *returned = bound.call.target_kernel(loc, device, teams, threads, host_key, packet);
    }
    rex_gate_used();
    return result;
}

/*
 * ---- the program's data calls ------------------------------------------------------------------
 *
 * A call of the program waits until no thread registers a module. librex logs an error, and does
 * not call libomptarget, in four cases: the process is ending, the process is a child of fork that
 * cannot call libomptarget, the device is lost, or rex_load_check() fails. In these cases a
 * function with a result, such as a launch, returns the result that means failure.
 */

#define IS_LATER(name) (strstr(#name, "nowait") != NULL)
#define KIND_OF(name)                                            \
    &data_kinds[strstr(#name, "_begin") != NULL ? REX_DATA_BEGIN \
                : strstr(#name, "_end") != NULL ? REX_DATA_END   \
                                                : REX_DATA_UPDATE]
/* A call that ends mappings has already entered the present table, in forward.c. */
#define DATA(name, parameters, arguments, names, mappers)                                       \
    static void observed_##name parameters                                                      \
    {                                                                                           \
        const struct data_kind *kind = KIND_OF(name);                                           \
        struct rex_call_trace trace = {                                                         \
            .packet = rex_packet_of_columns(count, base, begin, sizes, types, names, mappers)}; \
        enum rex_present_call call =                                                            \
            kind->directions == REX_MAP_TO ? REX_CALL_BEGINS : REX_CALL_UPDATES;                \
        if (count > 0)                                                                          \
            log_call(kind->logged, device, &trace.packet);                                      \
        bool entered =                                                                          \
            kind->directions != REX_MAP_FROM && enter_table(call, &trace.packet, device);       \
        bool is_inside = rex_gate_enter_raw() == REX_OK;                                        \
        if (is_inside && check_data_call(device, kind->logged) == REX_OK) {                     \
            begin_call(&trace, "__tgt_" #name, device);                                         \
            bound.call.name arguments;                                                          \
            leave_data(&trace, kind->logged, kind->directions);                                 \
            rex_gate_used();                                                                    \
        }                                                                                       \
        leave_table(entered, call, &trace.packet, device, IS_LATER(name));                      \
        if (is_inside)                                                                          \
            rex_gate_leave();                                                                   \
    }
#define DATA_BARE(type, name, parameters, arguments, missing) \
    DATA(name, parameters, arguments, NULL, NULL)
#define DATA_MAPPER(type, name, parameters, arguments, missing) \
    DATA(name, parameters, arguments, names, mappers)
REX_DATA_BARE(DATA_BARE, target_data_begin)
REX_DATA_MAPPER(DATA_MAPPER, target_data_begin)
REX_DATA_BARE(DATA_BARE, target_data_end)
REX_DATA_MAPPER(DATA_MAPPER, target_data_end)
REX_DATA_BARE(DATA_BARE, target_data_update)
REX_DATA_MAPPER(DATA_MAPPER, target_data_update)

/* ---- the program's launches ------------------------------------------------------------------ */

static void say_waited_for(void)
{
    static bool is_said;
    if (rex_log_wanted(REX_LOG_INFO) && rex_log_is_first(&is_said))
        rex_log(REX_LOG_INFO,
                "%s is off, but launches that the program makes by its own calls of libomptarget "
                "still wait for their kernels",
                rex_settings[REX_OPTION_LAUNCH_BLOCKING].variable);
}

/*
 * Describes and logs a launch that the program makes by itself: code that clang compiled calls a
 * function of libomptarget, such as __tgt_target_kernel(). The driver never makes such a launch.
 * The reasons in the trace are REX_REASON_CALLED and the fallback reasons of the process.
 */
static void describe_launch(struct rex_call_trace *trace, const void *key, int64_t device,
                            struct rex_grid grid)
{
    struct __tgt_kernel_arguments *packet = &trace->packet;
    rex_packet_set_grid(packet, &grid);
    trace->reason.mask = rex_process_reasons() | REX_REASON_CALLED;
    /*
     * say_waited_for() logs a message about launches by the program itself. On LLVM 14,
     * describe_launch() is also called for librex's own launches. These launches have entered the
     * present table, so no message is logged for them.
     */
    if (REX_UNLIKELY(!rex_launches_block()) && !rex_present_is_entered())
        say_waited_for();
    const char *name = rex_trace_name(key);
    log_call(name != NULL ? name : "unknown kernel", device, packet);
}

#define LAUNCH(name, parameters, arguments, columns, grid, trip_count, flags)    \
    static int observed_##name parameters                                        \
    {                                                                            \
        struct rex_call_trace trace = {.packet = rex_packet_of_columns columns}; \
        int result = -1;                                                         \
        trace.packet.Tripcount = trip_count;                                     \
        describe_launch(&trace, key, device, grid);                              \
        bool entered = enter_table(REX_CALL_LAUNCHES, &trace.packet, device);    \
        bool is_inside = rex_gate_enter_raw() == REX_OK;                         \
        if (is_inside && check_kernel_call(device, key) == REX_OK) {             \
            begin_call(&trace, "__tgt_" #name, device);                          \
            result = leave_launch(&trace, key, bound.call.name arguments);       \
            rex_gate_used();                                                     \
        }                                                                        \
        leave_table(entered, REX_CALL_LAUNCHES, &trace.packet, device,           \
                    IS_LATER(name) || (REX_FLAG_NOWAIT & (flags)) != 0);         \
        if (is_inside)                                                           \
            rex_gate_leave();                                                    \
        return result;                                                           \
    }
#define BARE (count, base, begin, sizes, types, NULL, NULL)
#define WITH_MAPPERS (count, base, begin, sizes, types, names, mappers)
#define OF_PACKET                                                                               \
    (args->NumArgs, args->ArgsBase, args->Args, args->ArgSizes, args->ArgTypes, args->ArgNames, \
     args->ArgMappers)
#define LAUNCHING_BARE(type, name, parameters, arguments, missing) \
    LAUNCH(name, parameters, arguments, BARE, rex_grid_of_call(1, 0), 0, 0)
#define LAUNCHING_MAPPER(type, name, parameters, arguments, missing) \
    LAUNCH(name, parameters, arguments, WITH_MAPPERS, rex_grid_of_call(1, 0), 0, 0)
#define LAUNCHING_TEAMS_BARE(type, name, parameters, arguments, missing) \
    LAUNCH(name, parameters, arguments, BARE, rex_grid_of_call(teams, threads), 0, 0)
#define LAUNCHING_TEAMS_MAPPER(type, name, parameters, arguments, missing) \
    LAUNCH(name, parameters, arguments, WITH_MAPPERS, rex_grid_of_call(teams, threads), 0, 0)
#define LAUNCHING_PACKET(type, name, parameters, arguments, missing)                         \
    LAUNCH(name, parameters, arguments, OF_PACKET, rex_grid_of_packet(args, teams, threads), \
           args->Tripcount, args->Version < 2 ? 0 : args->Flags)
REX_LAUNCHING_BARE(LAUNCHING_BARE)
REX_LAUNCHING_MAPPER(LAUNCHING_MAPPER)
REX_LAUNCHING_TEAMS_BARE(LAUNCHING_TEAMS_BARE)
REX_LAUNCHING_TEAMS_MAPPER(LAUNCHING_TEAMS_MAPPER)
REX_LAUNCHING_PACKET(LAUNCHING_PACKET)

/* ---- the program's other calls --------------------------------------------------------------- */

static void leave_gate(const bool *entered)
{
    if (*entered)
        rex_gate_leave();
}

/*
 * libomp's threads call __tgt_target_sync(), even while the process ends. If librex refuses such a
 * call, librex sets no error.
 */
#define IS_BY_LIBOMP(name) (strcmp(#name, "target_sync") == 0)

static void await_before(const char *name)
{
    if (strncmp(name, "interop_", 8) == 0) /* the call may give the program a stream */
        rex_deferred_stop(REX_ANY_DEVICE);
    rex_await_all_deferred();
}

/* The attribute `cleanup` leaves the gate after the call, also if the function returns void. */
#define OTHER(type, name, parameters, arguments, missing)                             \
    static type observed_##name parameters                                            \
    {                                                                                 \
        if (!IS_BY_LIBOMP(name))                                                      \
            await_before(#name);                                                      \
        __attribute__((cleanup(leave_gate))) bool entered =                           \
            IS_BY_LIBOMP(name) ? rex_gate_try_raw() : rex_gate_enter_raw() == REX_OK; \
        if (!entered)                                                                 \
            return missing;                                                           \
        return bound.call.name arguments;                                             \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic" /* `return f();` in a function that returns void */
REX_ENDING_LATER(OTHER)
REX_DEVICE_CALLS(OTHER)
#pragma GCC diagnostic pop

/*
 * flang 24 emits this call for has_device_addr. After this call, as after omp_get_mapped_ptr(), the
 * program may access the memory without a call of librex.
 */
static void *observed_get_mapped_ptr(int64_t device, const void *host)
{
    int number = rex_openmp_number(device);
    rex_present_show(host, number);
    rex_await_deferred(number);
    if (rex_gate_enter_raw() != REX_OK)
        return NULL;
    void *address = bound.call.get_mapped_ptr(device, host);
    rex_gate_leave();
    return address;
}

/* ---- registration ---------------------------------------------------------------------------- */

#define UNIFIED_SHARED_MEMORY 0x8 /* a flag of __tgt_register_requires() */

static void observed_register_requires(int64_t flags)
{
    if (flags & UNIFIED_SHARED_MEMORY)
        rex_add_process_reasons(REX_REASON_UNIFIED);
    bound.call.register_requires(flags);
}

static void register_timed(void (*call)(struct __tgt_bin_desc *), const char *function,
                           struct __tgt_bin_desc *desc)
{
    uint64_t begin = rex_phase_begin();
    rex_trace_depth++;
    call(desc);
    rex_trace_depth--;
    rex_phase_end(begin, function, NULL);
}

static void observed_register_lib(struct __tgt_bin_desc *desc)
{
    register_timed(bound.call.register_lib, "__tgt_register_lib", desc);
}

static void observed_unregister_lib(struct __tgt_bin_desc *desc)
{
    register_timed(bound.call.unregister_lib, "__tgt_unregister_lib", desc);
}

/* ---- binding --------------------------------------------------------------------------------- */

void rex_calls_bind(struct rex_entry_points *slots, bool all)
{
    bound.call = *slots;
    bound.logged = rex_log_wanted(REX_LOG_DEBUG);
    bound.observed = bound.logged || rex_trace_on();
    rex_backend_bind(all, rex_runtime_disabled());
    bound.watched = rex_process_reasons() == 0 || rex_found_may_be_deleted();
    if (bound.observed || (rex_process_reasons() & REX_REASON_TOOL) == 0) {
#define OBSERVE(type, name, parameters, arguments, missing) slots->name = observed_##name;
        REX_REGISTERING(OBSERVE)
        REX_BEGINNING(OBSERVE)
        REX_ENDING(OBSERVE)
        REX_UPDATING(OBSERVE)
        REX_LAUNCHING(OBSERVE)
        REX_ENDING_LATER(OBSERVE)
        REX_DEVICE_CALLS(OBSERVE)
#undef OBSERVE
        slots->register_requires = observed_register_requires;
        slots->get_mapped_ptr = observed_get_mapped_ptr;
    }
    if (rex_trace_on() && !all) {
        char why[REX_REASON_MAX];
        rex_reason_text((struct rex_reason){.mask = REX_REASON_UNSEEN_CALLS}, why);
        rex_log(REX_LOG_INFO, "the trace lacks the program's own calls of libomptarget: %s", why);
    }
}
