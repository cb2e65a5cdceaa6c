/*
 * packet.c - fit a copy of a launch's packet to the bound release, and pass that on.
 *
 * There are two ways. The long one checks and fits everything. The short one is for a launch that
 * differs from an earlier one of the same kernel in nothing but addresses, sizes and the extent of
 * a one-dimensional grid; whatever else it meets goes the long way.
 *
 * The caller's packet is never passed on: libomptarget counts its arguments down or up and changes
 * its grid (LLVM 16 to 23), so that a packet used twice would make it read past the arrays.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "omp/grid.h"
#include "launch/check.h"
#include "module/modules.h"
#include "omp/rowlog.h"
#include "omp/runtime.h"

#define TYPE_TARGET_PARAM 0x20
#define TYPE_LITERAL 0x100

#define DEFAULT_TEAMS 128u

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* ---- the long way ---------------------------------------------------------------------------- */

uint32_t rex_default_teams(uint64_t trip_count, uint32_t threads)
{
    uint64_t teams = trip_count / threads + (trip_count % threads != 0);
    return teams == 0 ? DEFAULT_TEAMS : teams > INT32_MAX ? INT32_MAX : (uint32_t)teams;
}

static void fit_default_grid(struct __tgt_kernel_arguments *packet)
{
    if (packet->Threads[0] == 0)
        packet->Threads[0] = REX_DEFAULT_THREADS;
    if (packet->Teams[0] == 0)
        packet->Teams[0] = rex_default_teams(packet->Tripcount, packet->Threads[0]);
}

/*
 * x from the arguments of the call where the packet has none, else what suits the trip count; y and
 * z of 0 mean 1.
 */
static void fit_grid(struct __tgt_kernel_arguments *packet, int32_t num_teams, int32_t thread_limit)
{
    if (packet->Teams[0] == 0 && num_teams > 0)
        packet->Teams[0] = (uint32_t)num_teams;
    if (packet->Threads[0] == 0 && thread_limit > 0)
        packet->Threads[0] = (uint32_t)thread_limit;
    for (int i = 1; i < 3; i++) {
        packet->Teams[i] += packet->Teams[i] == 0;
        packet->Threads[i] += packet->Threads[i] == 0;
    }
    fit_default_grid(packet);
}

static const struct rex_packet_rule *rule_of(const struct rex_registration *registration,
                                             struct rex_kernel_rule kernel)
{
    return kernel.form == REX_FORM_ENV ? &registration->release->env
                                       : &registration->release->plain;
}

/*
 * From now on launches of this kernel with as many rows may go the short way, if the release wants
 * no more than a version. At debug each one is written down, so that all go the long way: the short
 * one has nothing to ask.
 */
static void remember(struct rex_registration *registration, int64_t position,
                     const struct rex_packet_rule *rule, uint32_t rows)
{
    const void *key = registration->table.entries[position].addr;
    const struct rex_launched **place = &registration->recent[rex_recent_place(key)];
    if (rule->leading_row || registration->release->strict_flags != 0 ||
        __atomic_load_n(place, __ATOMIC_ACQUIRE)->key == key || rex_rows_wanted())
        return;
    __atomic_store_n(place, rex_table_launched(&registration->table, position, rule->version, rows),
                     __ATOMIC_SEQ_CST);
    /*
     * Another thread may have turned the log on between: what it emptied (register.c) must stay
     * empty.
     */
    if (__atomic_load_n(&rex_log_level_now, __ATOMIC_SEQ_CST) == REX_LOG_DEBUG)
        __atomic_store_n(place, &rex_never_launched, __ATOMIC_RELEASE);
}

/* What makes the release ask the driver for as much shared memory as the block has. */
static void fit_dynamic_memory(const struct rex_registration *registration, int64_t position,
                               struct __tgt_kernel_arguments *packet)
{
    uint64_t all =
        (uint64_t)packet->DynCGroupMem + registration->table.launched[position].shared_memory;
    if (registration->release->static_memory_uncounted &&
        packet->DynCGroupMem < REX_SHARED_MEMORY && all > REX_SHARED_MEMORY)
        packet->DynCGroupMem = REX_SHARED_MEMORY;
}

/* Every check, every default. */
static int fit(struct rex_registration *registration, int64_t position, int64_t device,
               int32_t num_teams, int32_t thread_limit, const struct __tgt_kernel_arguments *args,
               struct __tgt_kernel_arguments *packet)
{
    int result = rex_packet_check(registration, position, device, args);
    if (result != REX_OK)
        return result;
    const struct rex_packet_rule *rule =
        rule_of(registration, rex_table_rule(&registration->table, position));
    struct __tgt_kernel_arguments fitted = *args;
    fit_grid(&fitted, num_teams, thread_limit);
    fit_dynamic_memory(registration, position, &fitted);
    result = rex_packet_check_grid(registration, rule, position, &fitted);
    if (result != REX_OK)
        return result;
    fitted.Version = rule->version;
    fitted.Flags |= registration->release->strict_flags;
    if (rex_rows_wanted())
        rex_rows_log_own(registration->table.entries[position].name, device, &fitted);
    remember(registration, position, rule, args->NumArgs);
    *packet = fitted;
    return rule->leading_row;
}

int rex_module_launch_packet(struct rex_module *module, int64_t device, int32_t num_teams,
                             int32_t thread_limit, const void *host_key,
                             const struct __tgt_kernel_arguments *args,
                             struct __tgt_kernel_arguments *packet)
{
    struct rex_registration *registration = rex_registration_of(module);
    if (registration == NULL)
        return rex_fail(REX_EINVAL, "a launch for a module that is not registered");
    int64_t position = rex_table_find(&registration->table, host_key);
    if (position < 0)
        return rex_unknown_key(host_key);
    return fit(registration, position, device, num_teams, thread_limit, args, packet);
}

/* ---- a leading row --------------------------------------------------------------------------- */

#define ROWS_ON_STACK 64

/*
 * The four columns with one row in front, in STORAGE of 4 x (NumArgs + 1) words, and the two
 * optional ones behind them.
 */
static void lead(struct __tgt_kernel_arguments *packet, void **storage)
{
    size_t rows = packet->NumArgs, all = rows + 1;
    void **base = storage, **begin = base + all, **names = begin + all, **mappers = names + all;
    int64_t *sizes = (int64_t *)(mappers + all), *types = sizes + all;
    base[0] = begin[0] = (void *)-1; /* what LLVM 18 on pass where there is no launch environment */
    names[0] = mappers[0] = NULL;
    sizes[0] = sizeof(void *);
    types[0] = TYPE_TARGET_PARAM | TYPE_LITERAL;
    if (rows > 0) {
        memcpy(base + 1, packet->ArgsBase, rows * sizeof *base);
        memcpy(begin + 1, packet->Args, rows * sizeof *begin);
        memcpy(sizes + 1, packet->ArgSizes, rows * sizeof *sizes);
        memcpy(types + 1, packet->ArgTypes, rows * sizeof *types);
        if (packet->ArgNames != NULL)
            memcpy(names + 1, packet->ArgNames, rows * sizeof *names);
        if (packet->ArgMappers != NULL)
            memcpy(mappers + 1, packet->ArgMappers, rows * sizeof *mappers);
    }
    packet->NumArgs = (uint32_t)all;
    packet->ArgsBase = base;
    packet->Args = begin;
    packet->ArgSizes = sizes;
    packet->ArgTypes = types;
    packet->ArgNames = packet->ArgNames != NULL ? names : NULL;
    packet->ArgMappers = packet->ArgMappers != NULL ? mappers : NULL;
}

static ident_t *place_of(const struct rex_module *module)
{
    return module->location != NULL ? module->location : &rex_unknown_location;
}

/* 0 and what libomptarget returned, or REX_ENOMEM. */
static int launch_leading(const struct rex_module *module, int64_t device, const void *host_key,
                          struct __tgt_kernel_arguments *packet, int *result)
{
    void *on_stack[6 * (ROWS_ON_STACK + 1)], **storage = on_stack;
    if (packet->NumArgs > ROWS_ON_STACK &&
        (storage = calloc((size_t)packet->NumArgs + 1, 6 * sizeof *storage)) == NULL)
        return rex_fail_memory(((size_t)packet->NumArgs + 1) * 6 * sizeof *storage,
                               "the rows of a launch");
    lead(packet, storage);
    *result = REX_REAL(target_kernel)
    (place_of(module), device, (int32_t)packet->Teams[0], (int32_t)packet->Threads[0],
     (void *)(uintptr_t)host_key, packet);
    if (storage != on_stack)
        free(storage);
    return REX_OK;
}

int rex_module_launch_leading(struct rex_module *module, int64_t device, const void *host_key,
                              struct __tgt_kernel_arguments *packet)
{
    int result = 0;
    return launch_leading(module, device, host_key, packet, &result) == REX_OK ? result : -1;
}

int rex_launch_fitted(struct rex_module *module, int64_t device, int32_t num_teams,
                      int32_t thread_limit, const void *host_key,
                      const struct __tgt_kernel_arguments *args, int *result)
{
    struct __tgt_kernel_arguments packet;
    int how =
        rex_module_launch_packet(module, device, num_teams, thread_limit, host_key, args, &packet);
    if (how > 0)
        return launch_leading(module, device, host_key, &packet, result);
    if (how == 0)
        *result = REX_REAL(target_kernel)
    (place_of(module), device, (int32_t)packet.Teams[0], (int32_t)packet.Threads[0],
     (void *)(uintptr_t)host_key, &packet);
    return how;
}

/* ---- the short way --------------------------------------------------------------------------- */

/*
 * Out of line, and with the parameters of rex_module_launch_registered(), so that the short way
 * saves no registers for it.
 */
static __attribute__((noinline)) int launch_long_way(uintptr_t packet_rules, int64_t device,
                                                     int32_t num_teams, int32_t thread_limit,
                                                     void *host_key,
                                                     struct __tgt_kernel_arguments *args)
{
    struct rex_module *module = ((const struct rex_registration *)packet_rules)->module;
    int result = 0;
    return rex_launch_fitted(module, device, num_teams, thread_limit, host_key, args, &result) ==
                   REX_OK
               ? result
               : -1;
}

/*
 * Two neighbouring fields of 32 bits, the one at OFFSET being the lower half (little-endian
 * machines, as in rex_kmp.h).
 */
static inline uint64_t two_fields(const struct __tgt_kernel_arguments *args, size_t offset)
{
    uint64_t both;
    memcpy(&both, (const char *)args + offset, sizeof both);
    return both;
}

#define AT(field) offsetof(struct __tgt_kernel_arguments, field)
_Static_assert(AT(DynCGroupMem) == AT(Threads) + 12,
               "two_fields() may take the last dimension and what follows");

/*
 * One dimension, of 1 to what is allowed, nothing left to default, no dynamic shared memory: there
 * is nothing to check or fit.
 */
static inline int grid_usual(const struct __tgt_kernel_arguments *args, uint32_t most_teams,
                             uint32_t most_threads)
{
    return args->Teams[0] - 1 < most_teams && args->Threads[0] - 1 < most_threads &&
           two_fields(args, AT(Teams) + 4) == UINT64_C(0x100000001) && args->Threads[1] == 1 &&
           two_fields(args, AT(Threads) + 8) == 1;
}

#define HEAD AT(ArgsBase)
_Static_assert(offsetof(struct rex_launched, most_threads) -
                       offsetof(struct rex_launched, version) ==
                   HEAD,
               "version and rows are the head of a packet");

int rex_module_launch_registered(uintptr_t packet_rules, int64_t device, int32_t num_teams,
                                 int32_t thread_limit, void *host_key,
                                 struct __tgt_kernel_arguments *args)
{
    struct __tgt_kernel_arguments packet;
    struct rex_registration *registration = (struct rex_registration *)packet_rules;
    const struct rex_launched *last =
        __atomic_load_n(&registration->recent[rex_recent_place(host_key)], __ATOMIC_ACQUIRE);
    if (unlikely(last->key != host_key || last->rows != args->NumArgs ||
                 !rex_packet_columns(args) || (uint64_t)device + 1 >= registration->devices ||
                 !grid_usual(args, registration->most_teams, last->most_threads)))
        return launch_long_way(packet_rules, device, num_teams, thread_limit, host_key, args);
    /* Version and NumArgs from what is known, all else from the caller. */
    memcpy(&packet, &last->version, HEAD);
    memcpy((char *)&packet + HEAD, (const char *)args + HEAD, sizeof packet - HEAD);
    /* A registered module's runtime is bound: the slot does not change any more. */
    return rex_real.target_kernel(registration->location, device, (int32_t)packet.Teams[0],
                                  (int32_t)packet.Threads[0], host_key, &packet);
}

int rex_module_launch(struct rex_module *module, int64_t device, int32_t num_teams,
                      int32_t thread_limit, void *host_key, struct __tgt_kernel_arguments *args)
{
    if (rex_module_register(module) != REX_OK)
        return -1;
    uintptr_t packet_rules = __atomic_load_n(&module->packet_rules, __ATOMIC_ACQUIRE);
    return args != NULL
               ? rex_module_launch_registered(packet_rules, device, num_teams, thread_limit,
                                              host_key, args)
               : launch_long_way(packet_rules, device, num_teams, thread_limit, host_key, args);
}
