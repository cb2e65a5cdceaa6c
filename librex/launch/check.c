/*
 * check.c - what is wrong with a launch, before anybody else sees it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/check.h"

#include "base/error.h"
#include "cuda/gpu.h"
#include "memory/rowcheck.h"
#include "module/register.h"
#include "omp/grid.h"

/* Of any NVIDIA GPU (CUDA C++ Programming Guide, technical specifications by compute capability).
 */
#define MOST_THREADS_IN_Z 64u
#define MOST_TEAMS_IN_Y_AND_Z 65535u

/* ---- rows and parameters --------------------------------------------------------------------- */

/* A kernel of unknown parameters, as in a host image, is of the form that the image says. */
static enum rex_kernel_form form_of(struct rex_kernel_facts facts, uint32_t rows)
{
    if (facts.parameters == REX_PARAMETERS_UNKNOWN)
        return (enum rex_kernel_form)facts.form;
    if (rows == facts.parameters)
        return REX_FORM_PLAIN;
    return rows + 1 == facts.parameters && !(facts.flags & REX_FACT_NARROW_FIRST)
               ? REX_FORM_ENV
               : REX_FORM_UNKNOWN;
}

static int wrong_count(const struct rex_target *target, uint32_t rows, uint32_t count)
{
    struct rex_kernel_facts facts = rex_target_facts(target);
    return rex_fail(REX_EPARAMS,
                    "kernel \"%s\" has %u parameters%s, and the launch %u rows for them (of %u)",
                    rex_target_name(target), facts.parameters,
                    facts.form == REX_FORM_PLAIN ? ", none of them the runtime's"
                    : facts.form == REX_FORM_ENV ? ", the first of them the runtime's"
                                                 : "",
                    rows, count);
}

/* With REX_CHECK=off a kernel is compared with the image at its first launch. */
static int match(const struct rex_target *target)
{
    return rex_target_facts(target).flags & REX_FACT_MATCHED
               ? REX_OK
               : rex_registration_match(target->registration, target->position);
}

/* A kernel that was launched as env once is no plain one, and the other way round. */
int rex_check_form(const struct rex_target *target, uint32_t rows, uint32_t count,
                   enum rex_kernel_form *form)
{
    int result = match(target);
    if (result != REX_OK)
        return result;
    struct rex_kernel_facts facts = rex_target_facts(target);
    enum rex_kernel_form found = form_of(facts, rows);
    if (found == REX_FORM_UNKNOWN || (facts.form != REX_FORM_UNKNOWN && found != facts.form))
        return wrong_count(target, rows, count);
    if (facts.form == REX_FORM_UNKNOWN) {
        facts.form = (uint8_t)found;
        rex_table_set_facts(&target->registration->table, target->position, facts);
    }
    *form = found;
    return REX_OK;
}

/* LLVM 14 to 22 overwrite the column of bases for such a row, and the kernel gets a wild pointer.
 */
static int check_types(const struct rex_target *target, const struct __tgt_kernel_arguments *args,
                       uint32_t *rows)
{
    *rows = 0;
    for (uint32_t i = 0; i < args->NumArgs; i++) {
        if (args->ArgTypes[i] & REX_TYPE_RETURN)
            return rex_fail(REX_EINVAL,
                            "kernel \"%s\": map row %u asks for its device address, which only a "
                            "data region gives back",
                            rex_target_name(target), i);
        *rows += (args->ArgTypes[i] & REX_TYPE_PARAMETER) != 0;
    }
    return REX_OK;
}

static int check_widths(const struct rex_target *target)
{
    const struct rex_registration *registration = target->registration;
    struct rex_misfit misfit = registration->table.misfit[target->position];
    return misfit.size == 0
               ? REX_OK
               : rex_fail(REX_EPARAMS,
                          "kernel \"%s\" in %s: parameter %u is %u bytes wide, and LLVM %d passes "
                          "8-byte slots: use a pointer or a rex_arg, or launch it with "
                          "rex_queue_launch()",
                          rex_target_name(target), registration->image_path, misfit.index,
                          misfit.size, registration->release->number);
}

static int check_release(const struct rex_target *target, enum rex_kernel_form form)
{
    const struct rex_release *release = target->registration->release;
    return form != REX_FORM_PLAIN || !release->plain.refused
               ? REX_OK
               : rex_fail(REX_EUNSUPPORTED,
                          "kernel \"%s\" is plain, and LLVM %d passes every kernel a leading "
                          "parameter of its own: declare it with REX_DEVICE_KERNEL_ENV, or use "
                          "another release",
                          rex_target_name(target), release->number);
}

int rex_check_parameters(const struct rex_target *target, const struct __tgt_kernel_arguments *args,
                         enum rex_kernel_form *form)
{
    uint32_t rows;
    int result = match(target);
    if (result == REX_OK)
        result = check_widths(target);
    if (result == REX_OK)
        result = check_types(target, args, &rows);
    if (result == REX_OK)
        result = rex_check_form(target, rows, args->NumArgs, form);
    if (result == REX_OK)
        result = check_release(target, *form);
    if (result == REX_OK && target->device == -1)
        result = rex_device_check_default();
    if (result != REX_OK)
        return result;
    struct rex_kernel_facts facts = rex_target_facts(target);
    facts.checked = args->NumArgs + 1;
    rex_table_set_facts(&target->registration->table, target->position, facts);
    rex_device_used();
    return REX_OK;
}

static int check_columns(const struct rex_target *target, const struct __tgt_kernel_arguments *args)
{
    if (args == NULL)
        return rex_fail(REX_EINVAL, "kernel \"%s\": the packet is NULL", rex_target_name(target));
    if (args->NumArgs > INT32_MAX)
        return rex_fail(REX_EINVAL, "kernel \"%s\": a negative number of rows, %d",
                        rex_target_name(target), (int)args->NumArgs);
    if (args->NumArgs == 0 || rex_packet_columns(args))
        return REX_OK;
    return rex_fail_null_column(rex_target_name(target), args->ArgsBase, args->Args, args->ArgSizes,
                                args->ArgTypes, args->NumArgs);
}

/* A bit that the release does not know may change what it takes the rows for. */
static int check_flags(const struct rex_target *target, const struct __tgt_kernel_arguments *args)
{
    const struct rex_release *release = target->registration->release;
    uint64_t unknown = args->Flags & ~release->packet_flags;
    return unknown == 0
               ? REX_OK
               : rex_fail(REX_EINVAL,
                          "kernel \"%s\": the packet's Flags, 0x%llx, have bits that LLVM %d does "
                          "not know: 0x%llx",
                          rex_target_name(target), (unsigned long long)args->Flags, release->number,
                          (unsigned long long)unknown);
}

int rex_check_packet(const struct rex_target *target, const struct __tgt_kernel_arguments *args,
                     enum rex_kernel_form *form)
{
    int result = check_columns(target, args);
    if (result == REX_OK)
        result = check_flags(target, args);
    if (result == REX_OK)
        result = rex_device_check(target->device);
    if (result != REX_OK)
        return result;
    struct rex_kernel_facts facts = rex_target_facts(target);
    if (facts.checked != args->NumArgs + 1)
        return rex_check_parameters(target, args, form);
    *form = (enum rex_kernel_form)facts.form;
    return REX_OK;
}

/* ---- the grid -------------------------------------------------------------------------------- */

int rex_check_strict(const struct rex_kernel_launch *launch, const char *what)
{
    return rex_grid_is_missing(launch)
               ? rex_fail(REX_EINVAL, "%s: a strict launch of %u teams of %u threads", what,
                          launch->teams[0], launch->threads[0])
               : REX_OK;
}

/* libomptarget aborts where the driver refuses a block or a grid. */
static int check_block(const struct rex_target *target, const uint32_t *threads)
{
    uint64_t most = target->registration->table.launched[target->position].most_threads;
    uint64_t plane = (uint64_t)threads[0] * threads[1];
    const char *name = rex_target_name(target);
    if (plane > most || plane * threads[2] > most)
        return rex_fail(REX_EINVAL, "kernel \"%s\": a block of %u x %u x %u threads, and %s %llu",
                        name, threads[0], threads[1], threads[2],
                        most < REX_MOST_THREADS ? "its __launch_bounds__ or registers allow"
                                                : "a GPU has at most",
                        (unsigned long long)most);
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

static int check_dynamic_memory(const struct rex_target *target, const struct rex_packet_rule *rule,
                                uint32_t dynamic)
{
    const struct rex_release *release = target->registration->release;
    const char *name = rex_target_name(target);
    uint32_t fixed = target->registration->table.launched[target->position].shared_memory;
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
    /* LLVM 22 aborts on what the driver says to that */
    if (most > 0 && (uint64_t)dynamic + fixed > most)
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%s\": %u bytes of dynamic shared memory and %u of its own; a "
                        "block of the GPU has at most %llu",
                        name, dynamic, fixed, (unsigned long long)most);
    return REX_OK;
}

int rex_check_grid(const struct rex_target *target, const struct rex_packet_rule *rule,
                   const struct __tgt_kernel_arguments *packet)
{
    const struct rex_release *release = target->registration->release;
    const char *name = rex_target_name(target);
    const uint32_t *teams = packet->Teams, *threads = packet->Threads;
    if (teams[0] > INT32_MAX || threads[0] > INT32_MAX)
        return rex_fail(REX_EINVAL, "kernel \"%s\": a grid of %u teams of %u threads", name,
                        teams[0], threads[0]);
    if (rex_registration_on_host(target->registration))
        return REX_OK; /* the host device runs the kernel once, whatever the grid */
    bool managed =
        (rex_target_facts(target).flags & REX_FACT_MANAGED) && release->strict_flags == 0;
    if ((rule->dimensions == 1 || managed) && (teams[1] | teams[2] | threads[1] | threads[2]) > 1)
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%s\": teams %u x %u x %u of threads %u x %u x %u; LLVM %d "
                        "launches one dimension only%s",
                        name, teams[0], teams[1], teams[2], threads[0], threads[1], threads[2],
                        release->number, managed ? " of a kernel with an environment" : "");
    if (packet->DynCGroupMem > 0 &&
        check_dynamic_memory(target, rule, packet->DynCGroupMem) != REX_OK)
        return REX_EUNSUPPORTED;
    if (release->most_teams > 0 && teams[0] > release->most_teams)
        return rex_fail(REX_EUNSUPPORTED, "kernel \"%s\": %u teams; LLVM %d launches at most %u",
                        name, teams[0], release->number, release->most_teams);
    int result = check_teams(name, teams);
    return result == REX_OK ? check_block(target, threads) : result;
}
