/*
 * forward.c - the exported `__tgt_*` functions: jumps to the bound libomptarget. Registration,
 * which is more than a jump, is in adopt.c.
 *
 * A program that links librex and no libomptarget calls these; so does libomptarget itself, whose
 * internal calls are not bound to itself (LLVM 14 to 23 are linked without -Bsymbolic). Hence they
 * check nothing and change nothing. Those that end a mapping wait for queues that still use it, and
 * count: what librex remembers of mappings is out of date then (mapping.h).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "omp/forward.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "omp/mapping.h"
#include "omp/pending.h"
#include "omp/release.h"
#include "omp/runtime.h"
#include "trace/trace.h"

static int bound_release;

static void lacks(const char *name)
{
    rex_fail(REX_EUNSUPPORTED, "%s: LLVM %d's libomptarget has no such function", name,
             bound_release);
}

/*
 * What a slot holds before binding (first_) and where the release has no such function (lacking_).
 */
#define BEFORE_BINDING(type, name, parameters, arguments, missing) \
    static type lacking_##name parameters;                         \
    static type first_##name parameters                            \
    {                                                              \
        if (rex_runtime_bind() != 0)                               \
            return missing;                                        \
        return REX_REAL(name)                                      \
        arguments;                                                 \
    }
#define LACKING(type, name, parameters, arguments, missing) \
    static type lacking_##name parameters                   \
    {                                                       \
        lacks("__tgt_" #name);                              \
        return missing;                                     \
    }

void rex_mapping_settle(int64_t device, int32_t count, void **begin, int64_t *sizes, int64_t *types,
                        const char *call)
{
    struct rex_map map = {.count = count, .begin = begin, .sizes = sizes, .types = types};
    if (count > 0 && begin != NULL && sizes != NULL && types != NULL)
        rex_pending_wait(&map, device == -1 ? rex_runtime_default_device() : (int)device, call);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter" /* lacking_ functions use none of theirs */
#pragma GCC diagnostic ignored "-Wpedantic" /* `return f();` in a function that returns void */
REX_ENTRY_POINTS(BEFORE_BINDING)
REX_ENTRY_POINTS(LACKING)

#define FORWARD(type, name, parameters, arguments, missing)              \
    __attribute__((visibility("default"))) type __tgt_##name parameters; \
    type __tgt_##name parameters                                         \
    {                                                                    \
        return REX_REAL(name)                                            \
        arguments;                                                       \
    }
#define FORWARD_ENDING(type, name, parameters, arguments, missing)              \
    __attribute__((visibility("default"))) type __tgt_##name parameters;        \
    type __tgt_##name parameters                                                \
    {                                                                           \
        rex_mapping_ending(device, count, begin, sizes, types, "__tgt_" #name); \
        REX_REAL(name)                                                          \
        arguments;                                                              \
        rex_mapping_ended();                                                    \
    }
#define FORWARD_ENDING_LATER(type, name, parameters, arguments, missing) \
    __attribute__((visibility("default"))) type __tgt_##name parameters; \
    type __tgt_##name parameters                                         \
    {                                                                    \
        REX_REAL(name)                                                   \
        arguments;                                                       \
        rex_mapping_ended();                                             \
    }
REX_FORWARDED(FORWARD)
REX_ENDING(FORWARD_ENDING)
REX_ENDING_LATER(FORWARD_ENDING_LATER)
#pragma GCC diagnostic pop

/* The exported name may be bound to another library's function, its alias is not. */
extern __typeof__(__tgt_target_data_end_mapper) rex_own_data_end
    __attribute__((alias("__tgt_target_data_end_mapper"), visibility("hidden")));

void *rex_forward_own(void)
{
    return (void *)(uintptr_t)rex_own_data_end;
}

bool rex_forward_first(void)
{
    void *first = dlsym(RTLD_DEFAULT, "__tgt_target_data_end_mapper");
    return first != NULL && first == rex_forward_own();
}

bool rex_mapping_seen(void)
{
    return rex_forward_first();
}

bool rex_mapping_all_seen(void)
{
    enum { UNASKED, YES, NO };
    static int answer;
    int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
    if (known == UNASKED) {
        known = rex_mapping_seen() ? YES : NO;
        __atomic_store_n(&answer, known, __ATOMIC_RELAXED);
    }
    return known == YES;
}

struct rex_entry_points rex_real = {
#define FIRST(type, name, parameters, arguments, missing) .name = first_##name,
    REX_ENTRY_POINTS(FIRST)
#undef FIRST
};

/*
 * LLVM 14 has no packet: grid and trip count travel as arguments. Without teams it derives them
 * from the trip count.
 */
static int kernel_without_packet(KERNEL_P)
{
    if (args->Tripcount > 0 && teams <= 0)
        rex_runtime_push_trip_count(loc, device, args->Tripcount);
    return REX_REAL(target_teams_mapper)
    (loc, device, key, (int32_t)args->NumArgs, args->ArgsBase, args->Args, args->ArgSizes,
     args->ArgTypes, args->ArgNames, args->ArgMappers, teams, threads);
}

static int kernel_without_packet_nowait(KERNEL_P, DEP_P)
{
    /* 14 ignores the dependences of its own nowait calls and runs them synchronously. */
    (void)depend_count, (void)depend, (void)no_alias_count, (void)no_alias;
    return kernel_without_packet(KERNEL_A);
}

static struct rex_entry_points found_by(void *(*find)(const char *symbol, void *context),
                                        void *context)
{
    struct rex_entry_points found = {
#define LACKS(type, name, parameters, arguments, missing) .name = lacking_##name,
        REX_ENTRY_POINTS(LACKS)
#undef LACKS
    };
#define FIND(type, name, parameters, arguments, missing)   \
    {                                                      \
        void *address = find("__tgt_" #name, context);     \
        if (address != NULL)                               \
            memcpy(&found.name, &address, sizeof address); \
    }
    REX_ENTRY_POINTS(FIND)
#undef FIND
    return found;
}

/* A trace that would lack most calls says so. */
static void trace(struct rex_entry_points *slots)
{
    if (!rex_forward_first())
        rex_log(REX_LOG_INFO, "the trace has librex's own calls only: the program is linked with "
                              "libomptarget itself");
    rex_trace_calls(slots);
}

void rex_forward_to(void *(*find)(const char *symbol, void *context), void *context, int release)
{
    bound_release = release;
    struct rex_entry_points slots = found_by(find, context);
    if (rex_release_row(release)->no_packet) {
        slots.target_kernel = kernel_without_packet;
        slots.target_kernel_nowait = kernel_without_packet_nowait;
    }
    if (rex_log_wanted(REX_LOG_DEBUG))
        rex_log_calls(&slots);
    if (rex_trace_on())
        trace(&slots);
#define POINT(type, name, parameters, arguments, missing) \
    __atomic_store_n(&rex_real.name, slots.name, __ATOMIC_RELEASE);
    REX_ENTRY_POINTS(POINT)
#undef POINT
}
