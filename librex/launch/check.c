/*
 * check.c - finds errors in a launch before libomptarget or the driver gets it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/check.h"

#include <string.h>

#include "base/error.h"
#include "cuda/driver.h"
#include "image/view.h"
#include "launch/pack.h"
#include "memory/rowcheck.h"
#include "module/register.h"
#include "omp/device.h"
#include "omp/grid.h"

/*
 * Limits of all NVIDIA GPUs (CUDA C++ Programming Guide, technical specifications by compute
 * capability).
 */
#define MOST_THREADS_IN_Z 64u
#define MOST_TEAMS_IN_Y_AND_Z 65535u

/* ---- rows and parameters --------------------------------------------------------------------- */

/* If the parameters are unknown, as in a host image, the image tells the kernel's form. */
static enum rex_kernel_form form_of(const struct rex_kernel *kernel, uint32_t rows)
{
    if (kernel->parameters == REX_PARAMETERS_UNKNOWN)
        return (enum rex_kernel_form)kernel->form;
    if (rows == kernel->parameters)
        return REX_FORM_PLAIN;
    return rows + 1 == kernel->parameters && !(rex_kernel_flags(kernel) & REX_KERNEL_NARROW_FIRST)
               ? REX_FORM_ENV
               : REX_FORM_UNKNOWN;
}

/* Names the parameters as the signature tells them. */
static int wrong_count(const struct rex_target *target, uint32_t rows, uint32_t count)
{
    static const char *const forms[] = {[REX_FORM_UNKNOWN] = "",
                                        [REX_FORM_PLAIN] = ", none of them the runtime's",
                                        [REX_FORM_ENV] = ", the first of them the runtime's"};
    const struct rex_signature *signature = target->kernel->signature;
    uint8_t form = __atomic_load_n(&target->kernel->form, __ATOMIC_RELAXED);
    char list[REX_SIGNATURE_MAX] = "";
    if (signature != NULL)
        rex_signature_print(signature->parameter, signature->count, list);
    return rex_fail(
        REX_EPARAMS,
        "kernel \"%s\" has %u parameters%s%s%s, and the launch %u rows for them (of %u)",
        rex_target_name(target), target->kernel->parameters, forms[form],
        signature != NULL ? " " : "", list, rows, count);
}

static int check_arguments(const struct rex_target *target, const struct rex_signature *signature,
                           const struct __tgt_kernel_arguments *args)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < (uint32_t)args->NumArgs && index < signature->count; i++) {
        struct rex_argument argument = {i, args->ArgTypes[i], args->ArgSizes[i], args->ArgsBase[i]};
        if (!(argument.type & REX_MAP_TARGET_PARAM))
            continue;
        if (!rex_argument_fits(&signature->parameter[index++], &argument))
            return rex_wrong_argument(&(struct rex_declared){rex_target_name(target),
                                                             signature->parameter, signature->count,
                                                             target->map},
                                      index - 1, &argument);
    }
    return REX_OK;
}

/* Compares the rows of ARGS with the signature, if the kernel has one. */
static int check_signature(const struct rex_target *target,
                           const struct __tgt_kernel_arguments *args)
{
    const struct rex_signature *signature = target->kernel->signature;
    return signature != NULL ? check_arguments(target, signature, args) : REX_OK;
}

/* With REX_CHECK=off a kernel is compared with the image at its first launch. */
static int match(const struct rex_target *target)
{
    return rex_kernel_flags(target->kernel) & REX_KERNEL_MATCHED
               ? REX_OK
               : rex_registration_match(target->registration, target->kernel);
}

/* A kernel that was launched once as env is never plain, and vice versa. */
int rex_check_form(const struct rex_target *target, uint32_t rows, uint32_t count,
                   enum rex_kernel_form *form)
{
    int result = match(target);
    if (result != REX_OK)
        return result;
    enum rex_kernel_form found = form_of(target->kernel, rows);
    uint8_t known = REX_FORM_UNKNOWN;
    if (found == REX_FORM_UNKNOWN ||
        (!__atomic_compare_exchange_n(&target->kernel->form, &known, (uint8_t)found, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
         known != found))
        return wrong_count(target, rows, count);
    *form = found;
    return REX_OK;
}

int rex_check_form_of(const struct rex_target *target, const struct rex_map *map,
                      enum rex_kernel_form *form)
{
    uint32_t parameters = 0;
    for (int32_t i = 0; i < map->count; i++)
        parameters += (map->types[i] & REX_MAP_TARGET_PARAM) != 0;
    return rex_check_form(target, parameters, (uint32_t)map->count, form);
}

/*
 * Refuses RETURN_PARAM, because LLVM 14 to 22 overwrite the column of bases for such a row, and the
 * kernel gets a wild pointer.
 */
static int check_types(const struct rex_target *target, const struct __tgt_kernel_arguments *args,
                       uint32_t *rows)
{
    const struct rex_map map = {args->NumArgs,  args->ArgsBase,   args->Args, args->ArgSizes,
                                args->ArgTypes, args->ArgMappers, NULL};
    *rows = 0;
    for (uint32_t i = 0; i < (uint32_t)args->NumArgs; i++) {
        if (args->ArgTypes[i] & REX_MAP_RETURN_PARAM)
            return rex_fail(REX_EINVAL,
                            "kernel \"%s\": map row %u asks for its device address, which only a "
                            "data region gives back",
                            rex_target_name(target), i);
        if (rex_check_member(&map, (int32_t)i, rex_target_name(target)) != REX_OK)
            return REX_EINVAL;
        *rows += (args->ArgTypes[i] & REX_MAP_TARGET_PARAM) != 0;
    }
    return REX_OK;
}

static int check_widths(const struct rex_target *target)
{
    const struct rex_registration *registration = target->registration;
    struct rex_misfit misfit = target->kernel->misfit;
    return misfit.size == 0
               ? REX_OK
               : rex_fail(REX_EPARAMS,
                          "kernel \"%s\" in %s: parameter %u is %u bytes wide, and LLVM %d passes "
                          "8-byte slots: write it with REX_DEVICE_KERNEL (rex/kernel.h), or "
                          "launch it in a queue",
                          rex_target_name(target), registration->image_path, misfit.index,
                          misfit.size, registration->release->number);
}

static bool ends_in_tor(const char *name)
{
    size_t length = strlen(name);
    return length >= 3 && strcmp(name + length - 3, "tor") == 0;
}

/* If offloading is disabled or the device is wrong, a later check reports it. */
static int refuse_plain(const struct rex_target *target)
{
    struct rex_reason reason = rex_target_reason(target);
    char why[REX_REASON_MAX];
    int number;
    if (rex_device_offload(target->device, &number) != REX_OK)
        return REX_OK;
    if (reason.against == 0)
        reason.against = REX_AGAINST_CALLED;
    rex_reason_text(reason, why);
    return rex_fail(REX_EUNSUPPORTED,
                    "kernel \"%s\" is plain, and LLVM %d passes every kernel a leading parameter "
                    "of its own: declare it with REX_DEVICE_KERNEL_ENV, or use another release; "
                    "not launched by the CUDA driver: %s",
                    rex_target_name(target), target->registration->release->number, why);
}

static int check_release(const struct rex_target *target, enum rex_kernel_form form)
{
    const struct rex_release *release = target->registration->release;
    if (release->names_in_tor_crash && ends_in_tor(rex_target_name(target)))
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%s\": LLVM %d takes a kernel whose name ends in \"tor\" for a "
                        "constructor or destructor, and gives it no arguments: rename it",
                        rex_target_name(target), release->number);
    bool called = rex_kernel_flags(target->kernel) & REX_KERNEL_CALLED;
    return called || form != REX_FORM_PLAIN || !release->plain.refused ? REX_OK
                                                                       : refuse_plain(target);
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
        result = rex_check_form(target, rows, (uint32_t)args->NumArgs, form);
    if (result == REX_OK)
        result = check_signature(target, args);
    if (result == REX_OK)
        result = check_release(target, *form);
    if (result == REX_OK && target->device == -1)
        result = rex_device_check_default();
    if (result != REX_OK)
        return result;
    __atomic_store_n(&target->kernel->checked, (uint32_t)args->NumArgs + 1, __ATOMIC_RELEASE);
    rex_device_used();
    return REX_OK;
}

static int check_columns(const struct rex_target *target, const struct __tgt_kernel_arguments *args)
{
    if (args == NULL)
        return rex_fail(REX_EINVAL, "kernel \"%s\": the packet is NULL", rex_target_name(target));
    if (args->NumArgs < 0)
        return rex_fail(REX_EINVAL, "kernel \"%s\": a negative number of rows, %d",
                        rex_target_name(target), args->NumArgs);
    if (args->NumArgs == 0 || rex_packet_columns(args))
        return REX_OK;
    return rex_fail_null_column(rex_target_name(target), args->ArgsBase, args->Args, args->ArgSizes,
                                args->ArgTypes, args->NumArgs);
}

/* An unknown bit may change how the release reads the rows. */
static int check_flags(const struct rex_target *target, const struct __tgt_kernel_arguments *args)
{
    const struct rex_release *release = target->registration->release;
    uint64_t unknown = (uint64_t)args->Flags & ~release->packet_flags;
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
    uint32_t checked = __atomic_load_n(&target->kernel->checked, __ATOMIC_ACQUIRE);
    if (checked != (uint32_t)args->NumArgs + 1)
        return rex_check_parameters(target, args, form);
    *form = (enum rex_kernel_form)__atomic_load_n(&target->kernel->form, __ATOMIC_RELAXED);
    return check_signature(target, args);
}

/* ---- the grid -------------------------------------------------------------------------------- */

int rex_check_strict(const struct rex_launch_config *launch, const char *what)
{
    return rex_grid_is_missing(launch)
               ? rex_fail(REX_EINVAL, "%s: a strict launch of %u teams of %u threads", what,
                          launch->teams[0], launch->threads[0])
               : REX_OK;
}

/* libomptarget aborts if the driver refuses a block or a grid. */
static int check_block(const struct rex_target *target, const uint32_t *threads)
{
    uint64_t most = target->kernel->most_threads;
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

/* LLVM 22 aborts if the driver refuses more. */
static int check_block_memory(const struct rex_target *target, uint32_t dynamic)
{
    uint32_t fixed = target->kernel->shared_memory;
    uint64_t most = rex_gpu_most(REX_GPU_SHARED_MEMORY);
    if (most > 0 && (uint64_t)dynamic + fixed > most)
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%s\": %u bytes of dynamic shared memory and %u of its own; a "
                        "block of the GPU has at most %llu",
                        rex_target_name(target), dynamic, fixed, (unsigned long long)most);
    return REX_OK;
}

static int check_dynamic_memory(const struct rex_target *target, const struct rex_packet_rule *rule,
                                uint32_t dynamic)
{
    const struct rex_release *release = target->registration->release;
    const char *name = rex_target_name(target);
    uint32_t fixed = target->kernel->shared_memory;
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
    return check_block_memory(target, dynamic);
}

static int check_numbers(const struct rex_target *target, const uint32_t *teams,
                         const uint32_t *threads)
{
    return teams[0] <= INT32_MAX && threads[0] <= INT32_MAX
               ? REX_OK
               : rex_fail(REX_EINVAL, "kernel \"%s\": a grid of %u teams of %u threads",
                          rex_target_name(target), teams[0], threads[0]);
}

int rex_check_gpu_grid(const struct rex_target *target, const uint32_t *teams,
                       const uint32_t *threads, uint32_t dynamic)
{
    int result = check_numbers(target, teams, threads);
    if (result == REX_OK && dynamic > 0)
        result = check_block_memory(target, dynamic);
    if (result == REX_OK)
        result = check_teams(rex_target_name(target), teams);
    return result == REX_OK ? check_block(target, threads) : result;
}

int rex_check_grid(const struct rex_target *target, const struct rex_packet_rule *rule,
                   const struct __tgt_kernel_arguments *packet)
{
    const struct rex_release *release = target->registration->release;
    const char *name = rex_target_name(target);
    /* As unsigned numbers, so that negative ones are too large. */
    const uint32_t *teams = (const uint32_t *)packet->Teams;
    const uint32_t *threads = (const uint32_t *)packet->Threads;
    uint32_t dynamic = (uint32_t)packet->DynCGroupMem;
    if (check_numbers(target, teams, threads) != REX_OK)
        return REX_EINVAL;
    if (rex_registration_on_host(target->registration))
        return REX_OK; /* the host device runs the kernel once for any grid */
    bool managed =
        (rex_kernel_flags(target->kernel) & REX_KERNEL_MANAGED) && release->strict_flags == 0;
    if ((rule->dimensions == 1 || managed) && (teams[1] | teams[2] | threads[1] | threads[2]) > 1)
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%s\": teams %u x %u x %u of threads %u x %u x %u; LLVM %d "
                        "launches one dimension only%s",
                        name, teams[0], teams[1], teams[2], threads[0], threads[1], threads[2],
                        release->number, managed ? " of a kernel with an environment" : "");
    if (dynamic > 0 && check_dynamic_memory(target, rule, dynamic) != REX_OK)
        return REX_EUNSUPPORTED;
    if (release->most_teams > 0 && teams[0] > release->most_teams)
        return rex_fail(REX_EUNSUPPORTED, "kernel \"%s\": %u teams; LLVM %d launches at most %u",
                        name, teams[0], release->number, release->most_teams);
    int result = check_teams(name, teams);
    return result == REX_OK ? check_block(target, threads) : result;
}
