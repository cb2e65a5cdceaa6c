/*
 * check.c - what is wrong with a launch or a data call, before libomptarget sees it. Off the short
 * way.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>

#include "cuda/gpu.h"
#include "base/error.h"
#include "module/register.h"
#include "omp/grid.h"
#include "launch/check.h"
#include "omp/rowlog.h"
#include "omp/runtime.h"

#define TYPE_TARGET_PARAM 0x20
/*
 * Of any NVIDIA GPU (CUDA C++ Programming Guide, technical specifications by compute capability).
 */
#define MOST_THREADS_IN_Z 64u
#define MOST_TEAMS_IN_Y_AND_Z 65535u

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* ---- keys, devices, columns ------------------------------------------------------------------ */

int rex_unknown_key(const void *key)
{
    Dl_info info;
    if (dladdr(key, &info) != 0 && info.dli_sname != NULL)
        return rex_fail(REX_EKEY, "host key %p (%s) is in no registered table of offload entries",
                        key, info.dli_sname);
    return rex_fail(REX_EKEY, "host key %p is in no registered table of offload entries", key);
}

/* KERNEL is NULL for a data call. */
static int null_column(const char *kernel, const void *base, const void *begin, const void *sizes,
                       const void *types, int64_t count)
{
    const char *column = base == NULL    ? "base addresses"
                         : begin == NULL ? "begin addresses"
                         : sizes == NULL ? "sizes"
                         : types == NULL ? "map types"
                                         : NULL;
    return column == NULL ? REX_OK
                          : rex_fail(REX_EINVAL, "%s%s%s: the column of %s is NULL, for %lld rows",
                                     kernel != NULL ? "kernel \"" : "a data call",
                                     kernel != NULL ? kernel : "", kernel != NULL ? "\"" : "",
                                     column, (long long)count);
}

/* ---- rows and parameters --------------------------------------------------------------------- */

static uint32_t parameter_rows(const struct __tgt_kernel_arguments *args)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < args->NumArgs; i++)
        rows += (args->ArgTypes[i] & TYPE_TARGET_PARAM) != 0;
    return rows;
}

static enum rex_kernel_form form_of(struct rex_kernel_rule rule, uint32_t rows)
{
    if (rule.parameters == REX_PARAMETERS_UNKNOWN)
        return (enum rex_kernel_form)rule.form;
    if (rows == rule.parameters)
        return REX_FORM_PLAIN;
    return rows + 1 == rule.parameters && !(rule.flags & REX_RULE_NARROW_FIRST) ? REX_FORM_ENV
                                                                                : REX_FORM_UNKNOWN;
}

/*
 * The first launch of a kernel, or one with another number of rows: compare them with its
 * parameters and remember the outcome.
 */
static int check_rows(struct rex_registration *registration, int64_t position, int64_t device,
                      const struct __tgt_kernel_arguments *args)
{
    const struct __tgt_offload_entry *entry = &registration->table.entries[position];
    struct rex_kernel_rule rule = rex_table_rule(&registration->table, position);
    if (!(rule.flags & REX_RULE_MATCHED)) {
        int result = rex_registration_match(registration, position);
        if (result != REX_OK)
            return result;
        rule = rex_table_rule(&registration->table, position);
    }
    if (rule.flags & REX_RULE_GLOBAL)
        return rex_fail(REX_EKEY, "host key %p is that of global \"%s\", not of a kernel",
                        entry->addr, entry->name);
    struct rex_misfit misfit = registration->table.misfit[position];
    if (misfit.size != 0)
        return rex_fail(REX_EPARAMS,
                        "kernel \"%s\" in %s: parameter %u is %u bytes wide, and LLVM %d passes "
                        "8-byte slots: use a pointer or a rex_arg, or launch "
                        "it with rex_queue_launch()",
                        entry->name, registration->image_path, misfit.index, misfit.size,
                        registration->release->number);
    uint32_t rows = parameter_rows(args);
    enum rex_kernel_form form = form_of(rule, rows);
    if (form == REX_FORM_UNKNOWN || (rule.form != REX_FORM_UNKNOWN && form != rule.form))
        return rex_fail(
            REX_EPARAMS,
            "kernel \"%s\" has %u parameters%s, and the packet %u rows for them (of %u)",
            entry->name, rule.parameters,
            rule.form == REX_FORM_PLAIN ? ", none of them the runtime's"
            : rule.form == REX_FORM_ENV ? ", the first of them the runtime's"
                                        : "",
            rows, args->NumArgs);
    if (form == REX_FORM_PLAIN && registration->release->plain.refused)
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%s\" is plain, and LLVM %d passes every kernel a leading "
                        "parameter of its own: declare it with "
                        "REX_DEVICE_KERNEL_ENV, or use another release",
                        entry->name, registration->release->number);
    if (device == -1 && rex_device_check_default() != REX_OK)
        return REX_EDEVICE;
    rule.form = (uint8_t)form;
    rule.checked = args->NumArgs + 1;
    rex_table_set_rule(&registration->table, position, rule);
    rex_device_used(registration->release);
    return REX_OK;
}
static int check_columns(const struct rex_registration *registration, int64_t position,
                         const struct __tgt_kernel_arguments *args)
{
    const char *name = registration->table.entries[position].name;
    if (args == NULL)
        return rex_fail(REX_EINVAL, "kernel \"%s\": the packet is NULL", name);
    if (args->NumArgs > INT32_MAX)
        return rex_fail(REX_EINVAL, "kernel \"%s\": a negative number of rows, %d", name,
                        (int)args->NumArgs);
    return args->NumArgs == 0 ? REX_OK
                              : null_column(name, args->ArgsBase, args->Args, args->ArgSizes,
                                            args->ArgTypes, args->NumArgs);
}

int rex_packet_check_all(struct rex_registration *registration, int64_t position, int64_t device,
                         const struct __tgt_kernel_arguments *args)
{
    int result = check_columns(registration, position, args);
    if (result == REX_OK)
        result = rex_device_check(device);
    if (result == REX_OK &&
        rex_table_rule(&registration->table, position).checked != args->NumArgs + 1)
        result = check_rows(registration, position, device, args);
    return result;
}

/* ---- the grid -------------------------------------------------------------------------------- */

/* libomptarget aborts where the driver refuses a block or a grid. */
static int check_block(const struct rex_registration *registration, int64_t position,
                       const uint32_t *threads)
{
    uint32_t most = registration->table.launched[position].most_threads;
    uint64_t plane = (uint64_t)threads[0] * threads[1];
    const char *name = registration->table.entries[position].name;
    if (plane > most || plane * threads[2] > most)
        return rex_fail(REX_EINVAL, "kernel \"%s\": a block of %u x %u x %u threads, and %s %u",
                        name, threads[0], threads[1], threads[2],
                        most < REX_MOST_THREADS ? "its __launch_bounds__ or registers allow"
                                                : "a GPU has at most",
                        most);
    if (threads[2] > MOST_THREADS_IN_Z)
        return rex_fail(
            REX_EINVAL,
            "kernel \"%s\": a block of %u x %u x %u threads, and a GPU has at most %u in z", name,
            threads[0], threads[1], threads[2], MOST_THREADS_IN_Z);
    return REX_OK;
}

static int check_teams(const char *name, const uint32_t *teams)
{
    if (teams[1] <= MOST_TEAMS_IN_Y_AND_Z && teams[2] <= MOST_TEAMS_IN_Y_AND_Z)
        return REX_OK;
    return rex_fail(
        REX_EINVAL,
        "kernel \"%s\": a grid of %u x %u x %u teams, and a GPU has at most %u in y and in z", name,
        teams[0], teams[1], teams[2], MOST_TEAMS_IN_Y_AND_Z);
}

static int check_dynamic_memory(const struct rex_registration *registration,
                                const struct rex_packet_rule *rule, int64_t position,
                                uint32_t dynamic)
{
    const struct rex_release *release = registration->release;
    const char *name = registration->table.entries[position].name;
    uint32_t fixed = registration->table.launched[position].shared_memory;
    if (!rule->dynamic_memory)
        return rex_fail(
            REX_EUNSUPPORTED,
            "kernel \"%s\": %u bytes of dynamic shared memory; LLVM %d cannot pass them on", name,
            dynamic, release->number);
    if (release->most_dynamic_memory > 0 && dynamic > release->most_dynamic_memory)
        return rex_fail(
            REX_EUNSUPPORTED,
            "kernel \"%s\": %u bytes of dynamic shared memory; LLVM %d launches nothing above %u",
            name, dynamic, release->number, release->most_dynamic_memory);
    if (release->shared_memory_fixed && (uint64_t)dynamic + fixed > REX_SHARED_MEMORY)
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%s\": %u bytes of dynamic shared memory and %u of its own; LLVM "
                        "%d launches nothing with more than %u",
                        name, dynamic, fixed, release->number, REX_SHARED_MEMORY);
    uint64_t most = rex_gpu_most_shared_memory();
    /* LLVM 22 and 23 abort on what the driver says to that */
    if (most > 0 && (uint64_t)dynamic + fixed > most)
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%s\": %u bytes of dynamic shared memory and %u of its own; a "
                        "block of the GPU has at most %llu",
                        name, dynamic, fixed, (unsigned long long)most);
    return REX_OK;
}

int rex_packet_check_grid(const struct rex_registration *registration,
                          const struct rex_packet_rule *rule, int64_t position,
                          const struct __tgt_kernel_arguments *packet)
{
    const struct rex_release *release = registration->release;
    const char *name = registration->table.entries[position].name;
    const uint32_t *teams = packet->Teams, *threads = packet->Threads;
    if (teams[0] > INT32_MAX || threads[0] > INT32_MAX)
        return rex_fail(REX_EINVAL, "kernel \"%s\": a grid of %u teams of %u threads", name,
                        teams[0], threads[0]);
    if (registration->on_host)
        return REX_OK; /* the host device runs the kernel once, whatever the grid */
    bool managed = (rex_table_rule(&registration->table, position).flags & REX_RULE_MANAGED) &&
                   release->strict_flags == 0;
    if ((rule->dimensions == 1 || managed) && (teams[1] | teams[2] | threads[1] | threads[2]) > 1)
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%s\": teams %u x %u x %u of threads %u x %u x %u; LLVM %d "
                        "launches one dimension only%s",
                        name, teams[0], teams[1], teams[2], threads[0], threads[1], threads[2],
                        release->number, managed ? " of a kernel with an environment" : "");
    if (packet->DynCGroupMem > 0 &&
        check_dynamic_memory(registration, rule, position, packet->DynCGroupMem) != REX_OK)
        return REX_EUNSUPPORTED;
    if (release->most_teams > 0 && teams[0] > release->most_teams)
        return rex_fail(REX_EUNSUPPORTED, "kernel \"%s\": %u teams; LLVM %d launches at most %u",
                        name, teams[0], release->number, release->most_teams);
    int result = check_teams(name, teams);
    return result == REX_OK ? check_block(registration, position, threads) : result;
}

/* ---- data calls ------------------------------------------------------------------------------ */

int rex_module_check_map(struct rex_module *module, int64_t device, int32_t count, void **base,
                         void **begin, const int64_t *sizes, const int64_t *types)
{
    const struct rex_registration *registration = rex_registration_of(module);
    if (unlikely(registration == NULL))
        return rex_fail(REX_EINVAL, "a data call for a module that is not registered");
    if (unlikely(count < 0))
        return rex_fail(REX_EINVAL, "a data call with a negative number of rows, %d", count);
    if (unlikely(count > 0 && (base == NULL || begin == NULL || sizes == NULL || types == NULL)))
        return null_column(NULL, base, begin, sizes, types, count);
    for (int32_t i = 0; i < count; i++)
        if (unlikely(sizes[i] < 0))
            return rex_fail(REX_EINVAL, "a data call: map row %d has a negative size", i);
    if (rex_device_check(device) != REX_OK)
        return REX_EDEVICE;
    if (device == -1 && rex_device_check_default() != REX_OK)
        return REX_EDEVICE;
    if (rex_rows_wanted() && count > 0)
        rex_rows_log_own("data call", device,
                         &(struct __tgt_kernel_arguments){.NumArgs = (uint32_t)count,
                                                          .ArgsBase = base,
                                                          .Args = begin,
                                                          .ArgSizes = (int64_t *)(uintptr_t)sizes,
                                                          .ArgTypes = (int64_t *)(uintptr_t)types});
    rex_device_used(registration->release);
    return REX_OK;
}
