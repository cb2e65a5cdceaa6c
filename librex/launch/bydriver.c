/*
 * bydriver.c - a synchronous launch by the CUDA driver.
 *
 * On an H100 it takes half the time of a launch by libomptarget with a few mapped rows, and a
 * sixteenth with 256. A launch that libomptarget would do differently has a fallback reason, and
 * goes to libomptarget: omp/sender.h lists the reasons. Also rex_module_init() of rex/offload.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "launch/bydriver.h"

#include <string.h>

#include "base/error.h"
#include "base/settings.h"
#include "base/process.h"
#include "cuda/context.h"
#include "launch/check.h"
#include "launch/driverrows.h"
#include "launch/driversteps.h"
#include "launch/packet.h"
#include "module/modules.h"
#include "omp/callreport.h"
#include "omp/calls.h"
#include "omp/flight.h"
#include "omp/device.h"
#include "omp/runtime.h"
#include "trace/trace.h"

/* ---- fallback reasons ------------------------------------------------------------------------ */

static unsigned against_kernel(const struct rex_target *target)
{
    uint8_t flags = rex_kernel_flags(target->kernel);
    bool is_unknown =
        (flags & REX_KERNEL_MATCHED) != 0 && target->kernel->parameters == REX_PARAMETERS_UNKNOWN;
    return (flags & REX_KERNEL_MANAGED ? REX_AGAINST_MODE : 0u) |
           (is_unknown ? REX_AGAINST_PARAMETERS : 0u);
}

static unsigned against_launch(const struct rex_target *target,
                               const struct rex_launch_config *launch, const struct rex_map *map)
{
    return rex_against_all() | target->registration->against | against_kernel(target) |
           (launch->flags & REX_LAUNCH_NOWAIT ? REX_AGAINST_NOWAIT : 0u) | rex_against_rows(map);
}

/* ---- preparation ----------------------------------------------------------------------------- */

static int fit_grid(const struct rex_target *target, const struct rex_launch_config *launch,
                    struct rex_driver_launch *sent)
{
    memcpy(sent->packed.grid, launch->teams, sizeof sent->packed.grid);
    memcpy(sent->packed.block, launch->threads, sizeof sent->packed.block);
    rex_grid_complete(sent->packed.grid, sent->packed.block, launch->trip_count);
    sent->packed.dynamic_memory = launch->dynamic_memory;
    return rex_check_gpu_grid(target, sent->packed.grid, sent->packed.block,
                              sent->packed.dynamic_memory);
}

static int load(const struct rex_target *target, struct rex_driver_launch *sent)
{
    sent->packed.kernel = rex_loaded_kernel(target->registration, target->kernel,
                                            sent->slot->ordinal, sent->slot->context);
    return sent->packed.kernel != NULL
               ? rex_loaded_kernel_allow(sent->packed.kernel, sent->packed.dynamic_memory)
               : rex_last_error_code();
}

/* ---- log and trace --------------------------------------------------------------------------- */

static struct __tgt_kernel_arguments packet_of(const struct rex_driver_launch *sent,
                                               const struct rex_launch_config *launch,
                                               const struct rex_map *map)
{
    struct __tgt_kernel_arguments packet = rex_packet_of_map(map);
    memcpy(packet.Teams, sent->packed.grid, sizeof packet.Teams);
    memcpy(packet.Threads, sent->packed.block, sizeof packet.Threads);
    packet.DynCGroupMem = (int32_t)sent->packed.dynamic_memory;
    packet.Tripcount = (int64_t)launch->trip_count;
    return packet;
}

static void log_sender(const struct rex_target *target, const char *by, const char *why)
{
    uint8_t before =
        __atomic_fetch_or(&target->kernel->flags, REX_KERNEL_SENDER_TOLD, __ATOMIC_RELAXED);
    if (before & REX_KERNEL_SENDER_TOLD)
        return;
    rex_log(REX_LOG_INFO, "kernel \"%s\" is launched by %s%s%s", rex_target_name(target), by,
            *why != '\0' ? ": " : "", why);
}

int rex_let_runtime_launch(const struct rex_target *target)
{
    char why[REX_REASON_MAX];
    if (target->against & (REX_AGAINST_ASKED | REX_AGAINST_NO_GPU))
        return REX_OK;
    bool refused = rex_driver_is_demanded();
    if (!refused && !rex_log_wanted(REX_LOG_INFO))
        return REX_OK;
    rex_reason_text(rex_target_reason(target), why);
    if (refused)
        return rex_fail(REX_EUNSUPPORTED,
                        "kernel \"%s\": %s=driver, and only libomptarget can launch it: %s",
                        rex_target_name(target), rex_setting_variable(REX_OPTION_LAUNCH_BY), why);
    log_sender(target, "libomptarget", why);
    return REX_OK;
}

/* ---- the launch ------------------------------------------------------------------------------ */

static int send_claimed(const struct rex_target *target, const struct rex_launch_config *launch,
                        const struct rex_map *map, enum rex_kernel_form form,
                        struct rex_driver_launch *sent)
{
    bool traced = rex_trace_on();
    struct rex_call_trace trace = {.packet = packet_of(sent, launch, map)};
    if (rex_rows_wanted())
        rex_rows_log(sent->packed.kernel->name, sent->number, &trace.packet);
    if (traced)
        rex_call_trace_begin(&trace, "cuLaunchKernel", sent->number);
    int result = rex_driver_launch(sent, map, form);
    if (traced)
        rex_call_trace_launch(&trace, target->kernel->entry->addr, result);
    return result;
}

/*
 * Whether libomptarget has to launch after all, because another call has added a fallback reason
 * while the launch waited for its memory.
 */
static bool is_turned_over(struct rex_target *target, struct rex_driver_rows *rows)
{
    if (!rows->is_mapped)
        target->against = rex_against_all();
    if (target->against != 0)
        rex_driver_rows_end(rows);
    return target->against != 0;
}

static int send_from(struct rex_slot *slot, struct rex_target *target,
                     const struct rex_launch_config *launch, const struct rex_map *map, int number,
                     bool is_mapped)
{
    struct rex_driver_launch sent = {
        .slot = slot, .number = number, .is_exact = target->registration->exact_rows};
    enum rex_kernel_form form = REX_FORM_UNKNOWN;
    int result = fit_grid(target, launch, &sent);
    if (result == REX_OK)
        result = load(target, &sent);
    if (result == REX_OK)
        result = rex_check_form_of(target, map, &form);
    if (result == REX_OK)
        result = rex_driver_rows_begin(&sent.rows, slot, map, number, is_mapped, &target->against);
    if (result != REX_OK || target->against != 0 || is_turned_over(target, &sent.rows))
        return result;
    if (rex_log_wanted(REX_LOG_INFO))
        log_sender(target, "the CUDA driver", "");
    result = send_claimed(target, launch, map, form, &sent);
    rex_driver_rows_end(&sent.rows);
    return result;
}

static int send_in_flight(struct rex_target *target, const struct rex_launch_config *launch,
                          const struct rex_map *map, int number, bool is_mapped)
{
    int ordinal, entered, result = rex_device_lost(number, rex_target_name(target));
    if (result == REX_OK)
        result = rex_slot_ordinal(number, &ordinal);
    if (result == REX_OK && ordinal < 0)
        target->against = REX_AGAINST_DEVICE;
    if (result != REX_OK || ordinal < 0)
        return result;
    struct rex_slot *slot = rex_slot_take(ordinal, rex_target_name(target), &entered);
    if (slot == NULL)
        return rex_last_error_code();
    result = send_from(slot, target, launch, map, number, is_mapped);
    rex_slot_give(slot, entered);
    return result;
}

/* An error of the device is left to the launch by libomptarget, which reports it. */
static int send(struct rex_target *target, const struct rex_launch_config *launch,
                const struct rex_map *map, bool is_mapped)
{
    int number;
    if (rex_device_offload(target->device, &number) != REX_OK) {
        target->against = REX_AGAINST_DEVICE;
        return REX_OK;
    }
    int result = rex_flight_enter();
    if (result != REX_OK)
        return result;
    result = send_in_flight(target, launch, map, number, is_mapped);
    rex_flight_leave();
    return result;
}

int rex_launch_by_driver(struct rex_target *target, const struct rex_launch_config *launch,
                         const struct rex_map *map)
{
    target->against = against_launch(target, launch, map);
    return rex_sender_for(target->against) == REX_SENDER_DRIVER ? send(target, launch, map, false)
                                                                : REX_OK;
}

int rex_launch_mapped_by_driver(struct rex_target *target, const struct rex_launch_config *launch,
                                const struct rex_map *map)
{
    target->against = 0;
    return send(target, launch, map, true);
}

/* ---- preparation before the first launch ----------------------------------------------------- */

/*
 * Loads everything that the first launch needs. Errors are ignored, because that launch reports
 * them.
 */
static void prepare(struct rex_registration *registration)
{
    int number, ordinal, entered;
    if (!rex_may_go_by_driver(registration) || rex_device_offload(-1, &number) != REX_OK ||
        rex_flight_enter() != REX_OK)
        return;
    struct rex_slot *slot = NULL;
    if (rex_slot_ordinal(number, &ordinal) == REX_OK && ordinal >= 0)
        slot = rex_slot_take(ordinal, registration->image_path, &entered);
    if (slot != NULL) {
        if (rex_loaded_image_prepare(registration, ordinal, slot->context) == REX_OK)
            rex_slot_make_room(slot, 1, registration->image_path);
        rex_slot_give(slot, entered);
    }
    rex_flight_leave();
}

int rex_module_init(struct rex_module *module)
{
    int result = rex_module_ready(module, "rex_module_init");
    if (result != REX_OK || rex_runtime_disabled())
        return result;
    if ((result = rex_device_check_default()) != REX_OK ||
        (result = rex_device_lost(rex_openmp_default_device(), "the load of an image")) != REX_OK)
        return result;
    uint64_t begin = rex_phase_begin();
    rex_device_used();
    rex_shelter_begin();
    /* An empty region loads the image, on every release. */
    result = rex_call_data(REX_DATA_BEGIN, NULL, -1, &(struct rex_map){0});
    if (result == REX_OK) {
        struct rex_kept_error last;
        rex_error_keep(&last);
        prepare(module->registration);
        rex_error_restore(&last); /* the first launch reports the error again */
    }
    rex_shelter_end();
    rex_phase_end(begin, "load image", rex_module_image_path(module));
    return result;
}
