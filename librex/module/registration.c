/*
 * registration.c - one attempt to register a module: finds the image, compares it with the entries,
 * and registers it with libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/registration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/settings.h"
#include "calls/calls.h"
#include "calls/forward.h"
#include "cuda/driver.h"
#include "cuda/launchcontext.h"
#include "module/parts.h"
#include "module/registry.h"
#include "module/table.h"
#include "module/trialload.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "omp/runtime.h"
#include "present/present.h"
#include "trace/trace.h"

/* ---- descriptors ----------------------------------------------------------------------------- */

/*
 * Puts ROWS in the order of the rows of the host image. libomptarget of LLVM 14 and 15 ignores the
 * names: if a launch passes the key of ROWS[i], libomptarget runs the kernel in row i of the image.
 * If no entry of the program belongs to row i, the key of ROWS[i] is the address of ROWS[i] itself.
 */
static int place_rows(struct __tgt_offload_entry *rows, const struct rex_registration *registration,
                      const struct rex_module_image *image)
{
    const struct rex_table *table = &registration->table;
    const struct rex_view *view = &image->view;
    size_t count = view->position_count, placed = 0;
    for (size_t i = 0; i < count; i++)
        rows[i] =
            (struct __tgt_offload_entry){&rows[i], (char *)(uintptr_t)view->positions[i], 0, 0, 0};
    for (uint32_t i = 0; i < table->count; i++) {
        const struct __tgt_offload_entry *entry = &table->entries[i];
        size_t row = 0;
        /*
         * Begin each search after the row that was found last. If the table and the image have the
         * same order, all searches together are then one pass over the rows.
         */
        for (size_t at = placed, steps = 0; steps < count; steps++, at = (at + 1) % count)
            if (rows[at].addr == &rows[at] && strcmp(view->positions[at], entry->name) == 0) {
                row = at + 1;
                break;
            }
        if (row == 0)
            return rex_fail(REX_ENOKERNEL,
                            "host image %s: \"%s\" is missing from the image's own section "
                            "omp_offloading_entries, where LLVM %d looks for %s (rex/kernel.h)",
                            image->path, entry->name, registration->release->number,
                            entry->size > 0 ? "globals: define it with REX_DEVICE_GLOBAL"
                                            : "kernels: write kernels with REX_DEVICE_KERNEL");
        rows[row - 1] = *entry;
        placed = row % count;
    }
    return REX_OK;
}

int rex_descriptor_new(struct rex_registration *registration, const struct rex_module_image *image,
                       bool fresh, struct rex_descriptor **result)
{
    const struct rex_table *table = &registration->table;
    const struct rex_release *release = registration->release;
    bool on_host = image->view.kind == REX_IMAGE_HOST;
    bool by_position = on_host && release->entries_by_position;
    bool calls = on_host && !by_position && release->host.version != 0;
    size_t count = by_position ? image->view.position_count : table->count;
    size_t copies = fresh || by_position || calls ? count : 0;
    struct __tgt_offload_entry *entries = by_position ? NULL : table->entries;
    struct rex_descriptor *descriptor = calloc(1, sizeof *descriptor);
    if (descriptor != NULL && copies > 0)
        entries = descriptor->entries = calloc(copies, sizeof *entries);
    if (descriptor == NULL || (copies > 0 && entries == NULL)) {
        free(descriptor);
        return rex_fail_memory(sizeof *descriptor + copies * sizeof *entries, "a registration");
    }
    if (by_position) {
        int failed = place_rows(entries, registration, image);
        if (failed != REX_OK) {
            free(entries);
            free(descriptor);
            return failed;
        }
    } else if (copies > 0) {
        memcpy(entries, table->entries, copies * sizeof *entries);
    }
    /*
     * On some LLVM releases the host device calls a kernel through a function of the image: put the
     * name of that function in the entry. The name is in the bytes of the image, which exist as
     * long as these copies of the entries.
     */
    for (size_t i = 0; calls && i < count; i++) {
        const struct rex_image_symbol *kernel =
            entries[i].size == 0 ? rex_view_find(&image->view, entries[i].name) : NULL;
        if (kernel != NULL && kernel->call != NULL)
            entries[i].name = (char *)(uintptr_t)kernel->call;
    }
    descriptor->image = (struct __tgt_device_image){image->bytes, image->bytes + image->size,
                                                    entries, entries + count};
    descriptor->given = (struct __tgt_bin_desc){1, &descriptor->image, entries, entries + count};
    *result = descriptor;
    return REX_OK;
}

/* ---- registering with libomptarget ----------------------------------------------------------- */

/*
 * Frees the copied entries of DESCRIPTOR after its registration, unless the LLVM release still
 * reads them.
 */
static void free_copies(struct rex_descriptor *descriptor, const struct rex_release *release)
{
    if (!release->entries_copied)
        return;
    free(descriptor->entries);
    descriptor->entries = NULL;
}

void rex_registration_ended(struct rex_registration *registration)
{
    free_copies(registration->descriptor, registration->release);
    rex_retained_drop(registration->descriptor->image.ImageStart);
}

/*
 * Registers DESCRIPTOR with libomptarget. A descriptor that libomptarget has seen belongs to
 * REGISTRATION and is never freed. Returns 0 or an error. If no device accepts the image,
 * unregisters DESCRIPTOR before the error is returned.
 */
static int give_to_runtime(struct rex_registration *registration,
                           const struct rex_module_image *image, struct rex_descriptor *descriptor)
{
    const struct rex_release *release = registration->release;
    bool for_gpu = image->view.kind == REX_IMAGE_CUBIN;
    char trouble[256];
    if (release->late_image_ignored && rex_devices_used() && !registration->is_kept)
        return rex_fail(
            REX_EUNSUPPORTED,
            "device image %s: LLVM %d loads no image that is registered after the first use of a "
            "device: load the module earlier",
            image->path, release->number);
    if (for_gpu) {
        uint64_t begin = rex_phase_begin();
        rex_context_activate(image->view.architecture, release->devices_at_first_use);
        rex_phase_end(begin, "activate contexts", NULL);
    }
    if (registration->is_kept)
        return REX_OK;
    int result = rex_gate_register(image->path, false);
    if (result != REX_OK)
        goto unhold;
    /*
     * If a device has been used, the code below loads the image. So test now whether the image can
     * be loaded.
     */
    bool late = rex_devices_used() && rex_devices_are_there() && !rex_runtime_disabled();
    if (late)
        result = rex_trial_load_now(descriptor, image->path, !for_gpu);
    if (result != REX_OK) {
        rex_gate_registered();
        goto unhold;
    }
    descriptor->previous = registration->descriptor;
    registration->descriptor = descriptor;
    REX_REAL(register_lib)
    (&descriptor->given);
    bool is_accepted = rex_devices_ask(true) > 0;
    if (!is_accepted) {
        REX_REAL(unregister_lib)
        (&descriptor->given);
        free_copies(descriptor, release);
    } else if (!late || !for_gpu) {
        rex_trial_load_later(!for_gpu);
    }
    /*
     * If devices are in use, load the image now. If it were not loaded now, a later launch would
     * load it while other threads launch.
     */
    for (int device = 0; is_accepted && late && device < rex_devices_known(); device++)
        rex_call_data(REX_DATA_BEGIN, NULL, device, &(struct rex_map){0});
    rex_gate_registered();
    if (is_accepted)
        return REX_OK;
    const char *cause = rex_runtime_doubt();
    if (for_gpu)
        result = rex_trial_contexts(image->path);
    if (result != REX_OK)
        goto unhold;
    if (*cause == '\0' && for_gpu && rex_device_trouble(release, trouble, sizeof trouble))
        cause = trouble;
    result = rex_fail(
        REX_ERUNTIME, "LLVM %d's libomptarget (%s) refused device image %s on every device%s%s",
        release->number, rex_runtime_path(), image->path, *cause != '\0' ? "; " : "", cause);
unhold:
    if (for_gpu)
        rex_context_unhold();
    return result;
}

/* ---- entries against the image --------------------------------------------------------------- */

int rex_registration_match(struct rex_registration *registration, struct rex_kernel *kernel)
{
    int result = REX_OK;
    rex_registry_lock();
    if (!(rex_kernel_flags(kernel) & REX_KERNEL_MATCHED))
        result = rex_kernel_match(&registration->table, kernel, &registration->view,
                                  registration->image_path, registration->release);
    rex_registry_unlock();
    return result;
}

/* ---- fallback reasons of a module's launches ------------------------------------------------- */

/*
 * Reads the fallback reasons that hold for all launches of the module. With such a reason
 * libomptarget, not the driver, has to launch. State in the image, such as a device global, is a
 * reason. librex and libomptarget load the image separately, so each has its own copy of the
 * global. A kernel that the driver launches would not see values that earlier launches by
 * libomptarget have written.
 *
 * If the table has globals, calls rex_mapped_unseen(): libomptarget maps the globals when it loads
 * the image, without a call that librex sees.
 */
static void read_reasons(struct rex_registration *registration)
{
    static const unsigned against[] = {[REX_STATE_GLOBAL] = REX_REASON_GLOBALS,
                                       [REX_STATE_RUNTIME] = REX_REASON_DEVICE_RUNTIME,
                                       [REX_STATE_LIBRARY] = REX_REASON_DEVICE_LIBRARY};
    const struct rex_descriptor *descriptor = registration->descriptor;
    struct rex_elf elf;
    registration->exact_rows = rex_setting_read(REX_OPTION_CHECK) == REX_CHECK_FULL;
    registration->reasons = rex_registration_on_host(registration) ? REX_REASON_DEVICE : 0u;
    if (registration->reasons == 0 &&
        rex_elf_open(&elf, descriptor->image.ImageStart, rex_descriptor_bytes(descriptor)) == 0)
        registration->reasons = against[rex_cubin_state(&elf, registration->about)];
    for (uint32_t i = 0; i < registration->table.count; i++)
        if (registration->table.entries[i].size > 0)
            rex_mapped_unseen();
}

/* ---- one attempt ----------------------------------------------------------------------------- */

static int register_opened(struct rex_registration *registration, struct rex_module_image *image)
{
    struct rex_descriptor *descriptor = registration->descriptor; /* given to libomptarget */
    bool now = rex_setting_read(REX_OPTION_CHECK);
    rex_view_close(&registration->view);
    /*
     * Equal images share retained bytes: an image that is registered again has its old address. So
     * if the address differs, the image is another image.
     */
    if (registration->is_kept && image->bytes != descriptor->image.ImageStart)
        return rex_fail(REX_EUNSUPPORTED,
                        "device image %s: this module cannot use it: the module was "
                        "registered with device image %s, and LLVM %d cannot end a registration",
                        image->path, registration->image_path, registration->release->number);
    int result = REX_OK;
    char *old = registration->image_path;
    if (old == NULL || strcmp(old, image->path) != 0) {
        char *copy = strdup(image->path);
        if (copy == NULL)
            return rex_fail_memory(strlen(image->path) + 1, "an image's path");
        /* Store the new path before the old path is freed: another thread may read the path now. */
        __atomic_store_n(&registration->image_path, copy, __ATOMIC_RELEASE);
        free(old);
    }
    if (now)
        result =
            rex_table_match(&registration->table, &image->view, image->path, registration->release);
    if (result == REX_OK)
        result = rex_modules_claim(registration, image->view.kind == REX_IMAGE_HOST);
    if (result != REX_OK)
        return result;
    if (!registration->is_kept)
        result = rex_descriptor_new(
            registration, image,
            !registration->release->entries_copied &&
                (descriptor != NULL || rex_adopted_has(registration->table.entries)),
            &descriptor);
    if (result == REX_OK)
        result = rex_module_image_retain(image, registration->release);
    if (result == REX_OK)
        result = give_to_runtime(registration, image, descriptor);
    if (registration->descriptor != descriptor) {
        free(descriptor->entries);
        free(descriptor);
    }
    if (result != REX_OK) {
        rex_modules_unclaim(registration);
        return result;
    }
    image->bytes = NULL; /* the registration holds the bytes */
    image->retained = false;
    if (!now) {
        registration->view = image->view;
        memset(&image->view, 0, sizeof image->view);
    }
    read_reasons(registration);
    rex_log(REX_LOG_INFO, "registered device image %s (offload entries: %u)", image->path,
            registration->table.count);
    return REX_OK;
}

int rex_register(struct rex_registration *registration, const char *name)
{
    struct rex_module_image image;
    rex_trace_start();
    rex_trace_names(rex_kernel_name);
    uint64_t begin = rex_phase_begin(), opening;
    int result = REX_EFORK;
    if (registration->forked && !rex_gate_is_torn()) {
        rex_fail(REX_EFORK,
                 "this process was forked after its parent registered %s%s for a GPU, or while "
                 "the parent registered or ended the module: start the child with exec, or fork "
                 "before the registration",
                 registration->image_path != NULL ? "device image " : "",
                 registration->image_path != NULL ? registration->image_path : "a module");
        goto done;
    }
    result = rex_gate_check();
    if (result == REX_OK)
        result = rex_table_build(&registration->table, registration->share != NULL
                                                           ? registration->share
                                                           : registration->module);
    if (result == REX_OK)
        result = rex_runtime_start();
    if (result != REX_OK)
        goto done;
    registration->release = rex_runtime();
    result = rex_device_require_gpu();
    if (result != REX_OK)
        goto done;
    opening = rex_phase_begin();
    result = rex_module_image_open(&image, registration->module, name, registration->release);
    if (result != REX_OK)
        goto done;
    result = rex_parts_divide(registration, &image);
    rex_phase_end(opening, "open image", image.path);
    if (result == REX_OK)
        result = register_opened(registration, &image);
    rex_module_image_close(&image);
done:
    rex_phase_end(begin, "register", registration->image_path);
    return result;
}
