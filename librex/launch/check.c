/*
 * check.c - completes the grid of a launch, and finds errors in a launch before libomptarget or the
 * driver makes the launch.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/check.h"

#include <stdio.h>

#include <string.h>

#include "base/error.h"
#include "cuda/driver.h"
#include "image/view.h"
#include "launch/pack.h"
#include "module/registration.h"
#include "omp/device.h"
#include "omp/grid.h"

/*
 * Limits of all NVIDIA GPUs (CUDA C++ Programming Guide, technical specifications by compute
 * capability).
 */
#define MOST_THREADS_IN_Z 64u
#define MOST_TEAMS_IN_Y_AND_Z 65535u

/* ---- rows and parameters --------------------------------------------------------------------- */

/*
 * Compares the rows of MAP that are arguments with the parameters in LAYOUT, in order. Returns the
 * index of the first such row that does not fit, or the number of rows if all fit. Sets *INDEX to
 * the index of the first parameter without a fitting row.
 */
static int32_t first_misfit(const struct rex_layout *layout, const struct rex_map *map,
                            uint32_t *index)
{
    const struct rex_image_parameter *parameter = &layout->parameter[layout->env];
    const struct rex_image_parameter *end = &layout->parameter[layout->count];
    int32_t i = 0, count = map->count;
    for (; i < count; i++) {
        if (!(map->types[i] & REX_MAP_TARGET_PARAM))
            continue;
        if (parameter >= end || !rex_argument_fits(parameter, map, i))
            break;
        parameter++;
    }
    *index = (uint32_t)(parameter - layout->parameter);
    return i;
}

/*
 * Returns an error for a wrong number of rows. If the image has the signature of the kernel, the
 * message has the signature and the first row that does not fit its parameter.
 */
static int fail_parameter_count(const struct rex_target *target, uint32_t rows,
                                const struct rex_map *map)
{
    const struct rex_layout *layout = target->kernel->layout;
    uint8_t form = __atomic_load_n(&target->kernel->form, __ATOMIC_RELAXED);
    char list[REX_SIGNATURE_MAX] = "", misfit[REX_MISFIT_MAX] = "", other[80] = "";
    uint32_t count = target->kernel->parameters;
    if (form == REX_FORM_UNKNOWN && (rex_kernel_flags(target->kernel) & REX_KERNEL_NARROW_FIRST))
        form = REX_FORM_PLAIN;
    if (layout != NULL && layout->has_kinds) {
        uint32_t index;
        int32_t row = first_misfit(layout, map, &index);
        rex_misfit_print(layout, index, map, row, misfit);
        rex_signature_print(layout->parameter + layout->env, layout->count - layout->env, list);
    }
    if (form == REX_FORM_UNKNOWN && count > 0)
        snprintf(other, sizeof other, ", or %u if the kernel's first parameter is for libomptarget",
                 count - 1);
    return rex_fail(
        REX_EPARAMS,
        "kernel \"%.*s\": the number of arguments is %u (map rows: %d), and must be %u%s%s%s%s%s%s",
        REX_KERNEL_NAME(target->name), rows, map->count, count - (form == REX_FORM_ENV), other,
        form == REX_FORM_ENV ? " (not counting the first parameter, which is for libomptarget)"
                             : "",
        list[0] != '\0' ? ", of types " : "", list, misfit[0] != '\0' ? ": " : "", misfit);
}

/*
 * Compares the rows with the signature, if the image has the signature of the kernel. Returns 0 or
 * REX_EPARAMS.
 */
static int check_signature(const struct rex_request *request)
{
    const struct rex_layout *layout = request->target.kernel->layout;
    const struct rex_map *map = request->map;
    uint32_t index;
    if (layout == NULL || !layout->has_kinds)
        return REX_OK;
    int32_t row = first_misfit(layout, map, &index);
    if (row == map->count && index == layout->count)
        return REX_OK;
    return rex_wrong_argument(request->target.name, layout, index, map, row);
}

/*
 * Finds the form of the kernel (omp/release.h) by the number of rows that are arguments. Example: a
 * kernel has 3 parameters. With 3 rows the form is PLAIN. With 2 rows the form is ENV: the runtime
 * passes the first parameter. A host image without a signature does not describe the parameters, so
 * the kernel has the form that rex_kernel_match() has set. The form of a kernel is that of its
 * signature or of its first launch. A launch in the other form fails.
 */
int rex_check_form(const struct rex_target *target, uint32_t rows, const struct rex_map *map,
                   enum rex_kernel_form *form)
{
    struct rex_kernel *kernel = target->kernel;
    uint8_t found = REX_FORM_UNKNOWN, known = REX_FORM_UNKNOWN;
    if (kernel->parameters == REX_PARAMETERS_UNKNOWN)
        found = kernel->form;
    else if (rows == kernel->parameters)
        found = REX_FORM_PLAIN;
    else if (rows + 1 == kernel->parameters &&
             !(rex_kernel_flags(kernel) & REX_KERNEL_NARROW_FIRST))
        found = REX_FORM_ENV;
    if (found == REX_FORM_UNKNOWN ||
        (!__atomic_compare_exchange_n(&kernel->form, &known, found, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED) &&
         known != found))
        return fail_parameter_count(target, rows, map);
    *form = (enum rex_kernel_form)found;
    return REX_OK;
}

int rex_check_form_of(const struct rex_target *target, const struct rex_map *map,
                      enum rex_kernel_form *form)
{
    uint32_t parameters = 0;
    for (int32_t i = 0; i < map->count; i++)
        parameters += (map->types[i] & REX_MAP_TARGET_PARAM) != 0;
    return rex_check_form(target, parameters, map, form);
}

/* Writes to WHY the reason why the driver does not launch. */
static void write_fallback_reason(const struct rex_request *request, char why[REX_REASON_MAX])
{
    struct rex_reason reason = rex_request_reason(request);
    if (reason.mask == 0)
        reason.mask = REX_REASON_CALLED;
    rex_reason_text(reason, why);
}

/* Returns an error if the LLVM release cannot launch a kernel with this name or in FORM. */
static int check_release(const struct rex_request *request, enum rex_kernel_form form)
{
    const struct rex_target *target = &request->target;
    const struct rex_release *release = target->registration->release;
    size_t length = strlen(target->name);
    char why[REX_REASON_MAX];
    int number;
    if (release->names_in_tor_crash && length >= 3 && strcmp(target->name + length - 3, "tor") == 0)
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%.*s\": LLVM %d takes a kernel whose name ends in \"tor\" for a "
                        "constructor or destructor, and passes no arguments: rename the kernel",
                        REX_KERNEL_NAME(target->name), release->number);
    if ((rex_kernel_flags(target->kernel) & REX_KERNEL_CALLED) || form != REX_FORM_PLAIN ||
        !release->plain.refused)
        return REX_OK;
    /* If offloading is disabled or the device does not exist, a later check reports the error. */
    if (rex_device_offload(request->device, &number) != REX_OK)
        return REX_OK;
    write_fallback_reason(request, why);
    return rex_fail(
        REX_EUNSUPPORTED,
        "kernel \"%.*s\" has no parameter for the runtime, and LLVM %d passes one to every kernel: "
        "declare the kernel with REX_DEVICE_KERNEL_ENV, or use another LLVM; librex does not "
        "launch the kernel by the driver instead: %s",
        REX_KERNEL_NAME(target->name), release->number, why);
}

int rex_check_parameters(const struct rex_request *request, enum rex_kernel_form *form)
{
    const struct rex_target *target = &request->target;
    struct rex_registration *registration = target->registration;
    const struct rex_map *map = request->map;
    struct rex_misfit misfit = target->kernel->misfit;
    char why[REX_REASON_MAX];
    int result;
    if (misfit.size != 0) {
        write_fallback_reason(request, why);
        return rex_fail(
            REX_EPARAMS,
            misfit.size > 8
                ? "kernel \"%.*s\" in %s: parameter %u has %u bytes. LLVM %d passes at most 8. "
                  "Declare the parameter as a pointer and pass the value with REX_FIRSTPRIVATE(), "
                  "or launch the kernel in a queue of a GPU. librex does not launch the kernel by "
                  "the driver instead: %s"
                : "kernel \"%.*s\" in %s: parameter %u has %u bytes, and LLVM %d passes 8 bytes "
                  "for each parameter: declare the kernel with REX_DEVICE_KERNEL (rex/kernel.h), "
                  "or launch it in a queue of a GPU; librex does not launch the kernel by the "
                  "driver instead: %s",
            REX_KERNEL_NAME(target->name), registration->image_path, misfit.index, misfit.size,
            registration->release->number, why);
    }
    /* rex_check_rows() has checked the rows of a launch without a packet. */
    for (int32_t i = 0; request->is_packet && i < map->count; i++) {
        /*
         * If a row has REX_MAP_RETURN_PARAM, LLVM 14 to 22 overwrite the base of the row, and pass
         * the kernel a wild pointer.
         */
        if (map->types[i] & REX_MAP_RETURN_PARAM)
            return rex_fail(
                REX_EINVAL,
                "kernel \"%.*s\": map row %d has REX_MAP_RETURN_PARAM, which asks for the device "
                "address of the row; only a data region returns addresses",
                REX_KERNEL_NAME(target->name), i);
        if (rex_check_member(map, i, target->name) != REX_OK)
            return REX_EINVAL;
    }
    result = rex_check_form_of(target, map, form);
    if (result != REX_OK)
        return result;
    result = check_signature(request);
    if (result != REX_OK)
        return result;
    result = check_release(request, *form);
    if (result != REX_OK)
        return result;
    __atomic_store_n(&target->kernel->checked, (uint32_t)map->count + 1, __ATOMIC_RELEASE);
    rex_device_used();
    return REX_OK;
}

int rex_check_packet(const struct rex_request *request, enum rex_kernel_form *form)
{
    const struct rex_kernel *kernel = request->target.kernel;
    const struct rex_release *release = request->target.registration->release;
    const struct rex_map *map = request->map;
    uint64_t unknown = request->flags & ~release->packet_flags;
    if (map->count < 0)
        return rex_fail(REX_EINVAL, "kernel \"%.*s\": the number of rows, %d, is negative",
                        REX_KERNEL_NAME(request->target.name), map->count);
    if (map->count > 0 && !rex_has_columns(map))
        return rex_fail_null_column(request->target.name, NULL, map);
    /* An unknown bit may change how the LLVM release reads the rows. */
    if (unknown != 0)
        return rex_fail(REX_EINVAL,
                        "kernel \"%.*s\": the packet's Flags, 0x%llx, have bits that LLVM %d does "
                        "not know: 0x%llx",
                        REX_KERNEL_NAME(request->target.name), (unsigned long long)request->flags,
                        release->number, (unsigned long long)unknown);
    int result = rex_device_check(request->device);
    if (result != REX_OK)
        return result;
    uint32_t checked = __atomic_load_n(&kernel->checked, __ATOMIC_ACQUIRE);
    if (checked != (uint32_t)map->count + 1)
        return rex_check_parameters(request, form);
    *form = (enum rex_kernel_form)__atomic_load_n(&kernel->form, __ATOMIC_RELAXED);
    return check_signature(request);
}

/* ---- the grid -------------------------------------------------------------------------------- */

#define DEFAULT_TEAMS 128u
#define DEFAULT_THREADS 128u

int rex_grid_complete(struct rex_grid *grid, uint64_t trip_count, const char *kernel)
{
    uint32_t *teams = grid->teams, *threads = grid->threads;
    if (threads[0] == 0)
        threads[0] = DEFAULT_THREADS;
    if (teams[0] == 0) {
        uint64_t needed = trip_count / threads[0] + (trip_count % threads[0] != 0);
        bool is_unknown = trip_count == 0 || trip_count > INT64_MAX;
        teams[0] = is_unknown ? DEFAULT_TEAMS : needed > INT32_MAX ? INT32_MAX : (uint32_t)needed;
        if (grid->cluster[0] > 1) /* round up to whole clusters */
            teams[0] += (grid->cluster[0] - teams[0] % grid->cluster[0]) % grid->cluster[0];
    }
    for (int i = 1; i < 3; i++) {
        teams[i] += teams[i] == 0;
        threads[i] += threads[i] == 0;
    }
    if ((teams[0] | threads[0]) > INT32_MAX && kernel != NULL)
        return rex_fail(
            REX_EINVAL,
            "kernel \"%.*s\": a grid of %u teams of %u threads (as int32_t: %d and %d): teams and "
            "threads must be from 0 to 2147483647",
            REX_KERNEL_NAME(kernel), teams[0], threads[0], (int32_t)teams[0], (int32_t)threads[0]);
    return REX_OK;
}

struct rex_launch_config rex_grid_stride(const struct rex_launch_config *launch, uint64_t most)
{
    struct rex_launch_config whole = *launch;
    struct rex_grid grid = rex_grid_of_launch(launch);
    uint32_t cluster = grid.cluster[0] > 0 ? grid.cluster[0] : 1;
    /* Ignore an error, because the launch reports it. */
    rex_grid_complete(&grid, launch->trip_count > 0 ? launch->trip_count : 1, NULL);
    uint64_t resident = rex_gpu_most(REX_GPU_RESIDENT_THREADS);
    for (int i = 0; i < 3; i++)
        resident /= grid.threads[i]; /* one by one: the product of the three may overflow */
    if (most > 0)
        resident = most / ((uint64_t)grid.teams[1] * grid.teams[2]);
    resident -= resident % cluster;
    if (launch->teams[0] == 0 && resident > 0 && grid.teams[0] > resident)
        grid.teams[0] = (uint32_t)resident;
    whole.flags &= ~REX_LAUNCH_GRID_STRIDE;
    memcpy(whole.teams, grid.teams, sizeof whole.teams);
    memcpy(whole.threads, grid.threads, sizeof whole.threads);
    return whole;
}

int rex_check_strict(const struct rex_launch_config *launch, const char *what)
{
    bool is_open = launch->teams[0] == 0 || launch->threads[0] == 0;
    if (is_open && (launch->flags & REX_LAUNCH_STRICT))
        return rex_fail(REX_EINVAL,
                        "%.*s: a strict launch must set teams and threads: %u teams of %u threads",
                        REX_KERNEL_NAME(what), launch->teams[0], launch->threads[0]);
    return REX_OK;
}

/*
 * Refuses a grid or a block that the driver would refuse. If the driver refuses a launch by
 * libomptarget, libomptarget aborts the process.
 */
int rex_check_limits(const struct rex_target *target, const struct rex_grid *grid)
{
    const uint32_t *teams = grid->teams, *threads = grid->threads;
    uint64_t most = target->kernel->most_threads;
    uint64_t plane = (uint64_t)threads[0] * threads[1];
    if (grid->dynamic_memory > 0) {
        uint64_t most_memory = rex_gpu_most(REX_GPU_SHARED_MEMORY);
        uint32_t fixed = target->kernel->shared_memory;
        if (most_memory > 0 && (uint64_t)grid->dynamic_memory + fixed > most_memory)
            return rex_fail(
                REX_EUNSUPPORTED,
                "kernel \"%.*s\": %u bytes of dynamic and %u of static shared memory: the GPU has "
                "at most %llu for a block",
                REX_KERNEL_NAME(target->name), grid->dynamic_memory, fixed,
                (unsigned long long)most_memory);
    }
    if (teams[1] > MOST_TEAMS_IN_Y_AND_Z || teams[2] > MOST_TEAMS_IN_Y_AND_Z)
        return rex_fail(
            REX_EINVAL,
            "kernel \"%.*s\": a grid of %u x %u x %u teams is too large: a GPU allows %u in y and "
            "in z",
            REX_KERNEL_NAME(target->name), teams[0], teams[1], teams[2], MOST_TEAMS_IN_Y_AND_Z);
    if (plane > most || plane * threads[2] > most)
        return rex_fail(REX_EINVAL,
                        "kernel \"%.*s\": a block of %u x %u x %u threads is too large: %s %llu",
                        REX_KERNEL_NAME(target->name), threads[0], threads[1], threads[2],
                        most >= REX_MOST_THREADS ? "a GPU allows"
                        : rex_kernel_flags(target->kernel) & REX_KERNEL_BOUNDED
                            ? "the kernel's __launch_bounds__ allow"
                            : "the kernel's registers allow",
                        (unsigned long long)most);
    if (threads[2] > MOST_THREADS_IN_Z)
        return rex_fail(
            REX_EINVAL,
            "kernel \"%.*s\": a block of %u x %u x %u threads is too large: a GPU allows %u in z",
            REX_KERNEL_NAME(target->name), threads[0], threads[1], threads[2], MOST_THREADS_IN_Z);
    return REX_OK;
}

int rex_check_grid(const struct rex_target *target, const struct rex_packet_rule *rule,
                   const struct rex_grid *grid)
{
    const struct rex_release *release = target->registration->release;
    const uint32_t *teams = grid->teams, *threads = grid->threads;
    uint32_t dynamic = grid->dynamic_memory, fixed = target->kernel->shared_memory;
    bool is_managed =
        (rex_kernel_flags(target->kernel) & REX_KERNEL_MANAGED) && release->strict_flags == 0;
    /* The host device runs the kernel once, for any grid. */
    if (rex_registration_on_host(target->registration))
        return REX_OK;
    if ((rule->dimensions == 1 || is_managed) &&
        (teams[1] | teams[2] | threads[1] | threads[2]) > 1)
        return rex_fail(
            REX_EUNSUPPORTED,
            "kernel \"%.*s\": %u x %u x %u teams of %u x %u x %u threads: LLVM %d launches %s in "
            "one dimension only",
            REX_KERNEL_NAME(target->name), teams[0], teams[1], teams[2], threads[0], threads[1],
            threads[2], release->number,
            is_managed ? "kernels of clang (with a symbol NAME_kernel_environment)" : "kernels");
    if (dynamic > 0 && !rule->dynamic_memory)
        return rex_fail(
            REX_EUNSUPPORTED,
            "kernel \"%.*s\": %u byte%s of dynamic shared memory: LLVM %d cannot pass the size",
            REX_KERNEL_NAME(target->name), dynamic, dynamic == 1 ? "" : "s", release->number);
    if (release->most_dynamic_memory > 0 && dynamic > release->most_dynamic_memory)
        return rex_fail(
            REX_EUNSUPPORTED,
            "kernel \"%.*s\": %u bytes of dynamic shared memory: LLVM %d allows at most %u",
            REX_KERNEL_NAME(target->name), dynamic, release->number, release->most_dynamic_memory);
    if (dynamic > 0 && release->shared_memory_fixed &&
        (uint64_t)dynamic + fixed > REX_SHARED_MEMORY)
        return rex_fail(
            REX_EUNSUPPORTED,
            "kernel \"%.*s\": %u bytes of dynamic and %u of static shared memory: LLVM %d allows "
            "at most %u in all",
            REX_KERNEL_NAME(target->name), dynamic, fixed, release->number, REX_SHARED_MEMORY);
    if (release->most_teams > 0 && teams[0] > release->most_teams)
        return rex_fail(REX_EUNSUPPORTED, "kernel \"%.*s\": %u teams: LLVM %d launches at most %u",
                        REX_KERNEL_NAME(target->name), teams[0], release->number,
                        release->most_teams);
    return rex_check_limits(target, grid);
}
