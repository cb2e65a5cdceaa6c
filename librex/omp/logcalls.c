/*
 * logcalls.c - the functions that stand in forward.c's table where the log is at debug: they write
 * a call's rows and pass it on.
 *
 * They are for code that others compiled: what librex's own functions do, these have written
 * already, in the module's words. Calls without names and mappers come here as the ones with them
 * that libomptarget makes of them (LLVM 14 to 23): hence those alone. What a thread calls within a
 * call is not written.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <string.h>

#include "omp/grid.h"
#include "omp/mapping.h"
#include "omp/rowlog.h"
#include "trace/trace.h"

static struct rex_entry_points real; /* what was in the table */
static __thread int depth;
__thread bool rex_rows_logged;

/*
 * At the beginning of a call; false: it has nothing to say, it is one of librex's own, or one
 * within a call.
 */
static bool enter(bool has_rows)
{
    if (depth++ > 0 || !has_rows || rex_looking_up)
        return false;
    bool logged = rex_rows_logged;
    rex_rows_logged = false;
    return !logged && rex_rows_wanted();
}

static void leave(void)
{
    depth--;
}

static void log_data(const char *what, int64_t device, const struct __tgt_kernel_arguments *rows)
{
    if (enter(rows->NumArgs > 0))
        rex_rows_log(what, device, rows);
}

static void log_launch(const void *key, int64_t device, struct __tgt_kernel_arguments *rows,
                       struct rex_grid grid)
{
    if (!enter(true))
        return;
    const char *name = rex_trace_name(key);
    memcpy(rows->Teams, grid.teams, sizeof rows->Teams);
    memcpy(rows->Threads, grid.threads, sizeof rows->Threads);
    rows->DynCGroupMem = grid.dynamic_memory;
    rex_rows_log(name != NULL ? name : "unknown kernel", device, rows);
}

/* ---- the functions --------------------------------------------------------------------------- */

#define ROWS(count, base, begin, sizes, types, names, mappers) \
    {.NumArgs = (uint32_t)(count),                             \
     .ArgsBase = (base),                                       \
     .Args = (begin),                                          \
     .ArgSizes = (sizes),                                      \
     .ArgTypes = (types),                                      \
     .ArgNames = (names),                                      \
     .ArgMappers = (mappers)}

#define DATA(name, parameters, arguments, what)                     \
    static void logged_##name parameters                            \
    {                                                               \
        struct __tgt_kernel_arguments rows =                        \
            ROWS(count, base, begin, sizes, types, names, mappers); \
        log_data(what, device, &rows);                              \
        real.name arguments;                                        \
        leave();                                                    \
    }
#define BEGINNING(type, name, parameters, arguments, missing) \
    DATA(name, parameters, arguments, "data begin")
#define ENDING(type, name, parameters, arguments, missing) \
    DATA(name, parameters, arguments, "data end")
#define UPDATING(type, name, parameters, arguments, missing) \
    DATA(name, parameters, arguments, "data update")
REX_BEGINNING_MAPPER(BEGINNING)
REX_ENDING_MAPPER(ENDING)
REX_UPDATING_MAPPER(UPDATING)

#define LAUNCH(name, parameters, arguments, grid)                   \
    static int logged_##name parameters                             \
    {                                                               \
        struct __tgt_kernel_arguments rows =                        \
            ROWS(count, base, begin, sizes, types, names, mappers); \
        log_launch(key, device, &rows, grid);                       \
        int result = real.name arguments;                           \
        leave();                                                    \
        return result;                                              \
    }
#define LAUNCHING(type, name, parameters, arguments, missing) \
    LAUNCH(name, parameters, arguments, rex_grid_of_call(1, 0))
#define LAUNCHING_TEAMS(type, name, parameters, arguments, missing) \
    LAUNCH(name, parameters, arguments, rex_grid_of_call(teams, threads))
#define LAUNCHING_PACKET(type, name, parameters, arguments, missing)                        \
    static int logged_##name parameters                                                     \
    {                                                                                       \
        struct __tgt_kernel_arguments rows =                                                \
            ROWS(args->NumArgs, args->ArgsBase, args->Args, args->ArgSizes, args->ArgTypes, \
                 args->ArgNames, args->ArgMappers);                                         \
        log_launch(key, device, &rows, rex_grid_of_packet(args, teams, threads));           \
        int result = real.name arguments;                                                   \
        leave();                                                                            \
        return result;                                                                      \
    }
REX_LAUNCHING_MAPPER(LAUNCHING)
REX_LAUNCHING_TEAMS_MAPPER(LAUNCHING_TEAMS)
REX_LAUNCHING_PACKET(LAUNCHING_PACKET)

void rex_log_calls(struct rex_entry_points *slots)
{
    real = *slots;
#define LOG(type, name, parameters, arguments, missing) slots->name = logged_##name;
    REX_BEGINNING_MAPPER(LOG)
    REX_ENDING_MAPPER(LOG)
    REX_UPDATING_MAPPER(LOG)
    REX_LAUNCHING_MAPPER(LOG)
    REX_LAUNCHING_TEAMS_MAPPER(LOG)
    REX_LAUNCHING_PACKET(LOG)
#undef LOG
}
