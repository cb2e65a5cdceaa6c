/*
 * state.c - registers and ends modules. If many threads register a module at the same time, the
 * module is registered only once.
 *
 * Implements rex/module.h except rex_module_init() (launch/launch.c) and rex_module_add()
 * (registry.c). registry.h declares the other functions.
 *
 * The state of a module:
 *
 *     UNREGISTERED -> BUSY -> REGISTERED -> BUSY -> UNREGISTERED
 *                          -> UNREGISTERED (the attempt failed)
 *
 * The thread whose compare-and-swap makes the module BUSY does the work. The other threads yield
 * until the work is done. They then return the error of that thread, or read the state again.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "calls/calls.h"
#include "calls/forward.h"
#include "cuda/launchcontext.h"
#include "module/parts.h"
#include "module/registry.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "omp/runtime.h"
#include "present/present.h"
#include "present/unfinished.h"
#include "trace/trace.h"

/* ---- the state ------------------------------------------------------------------------------- */

static void publish_registration(struct rex_registration *registration,
                                 struct __tgt_bin_desc *descriptor)
{
    struct rex_module *module = registration->module;
    bool was_registered = rex_registration_of(module) != NULL;
    if (module->descriptor != NULL)
        __atomic_store_n(module->descriptor, descriptor, __ATOMIC_RELEASE);
    if (descriptor != NULL)
        rex_devices_registered(1);
    __atomic_store_n(&module->packet_rules, descriptor != NULL ? (uintptr_t)registration : 0,
                     __ATOMIC_RELEASE);
    if (descriptor == NULL && was_registered)
        rex_devices_registered(-1);
}

/*
 * Changes the state from FROM to BUSY. Returns true if this thread has changed the state. No other
 * thread then registers or ends the module until end_work().
 */
static bool begin_work(struct rex_registration *registration, uintptr_t from)
{
    if (!__atomic_compare_exchange_n(&registration->module->state, &from, REX_MODULE_BUSY, 0,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return false;
    rex_shelter_begin();
    /*
     * Relaxed: a thread only compares `worker` with the address of its own rex_thread, which no
     * other thread stores.
     */
    __atomic_store_n(&registration->worker, &rex_thread, __ATOMIC_RELAXED);
    return true;
}

static void end_work(struct rex_registration *registration, uintptr_t state)
{
    REX_ASSERT(registration->worker == &rex_thread);
    /* Relaxed: see begin_work(). */
    __atomic_store_n(&registration->worker, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&registration->module->state, state, __ATOMIC_RELEASE);
    rex_shelter_end();
}

/*
 * Returns 0 if the calling thread may change the module's state, or wait for another thread that
 * changes the state. Returns REX_EINVAL if the calling thread itself is already changing the state.
 * Such a call comes from the program's log function. Returns REX_EBUSY inside a launch or another
 * call of librex: a change of the state waits for calls, so the thread would wait for itself.
 */
static int check_worker(const struct rex_registration *registration)
{
    const char *name = registration->module->image_name;
    if (name == NULL)
        name = "(no image name)";
    /* Relaxed: see begin_work(). */
    if (__atomic_load_n(&registration->worker, __ATOMIC_RELAXED) == &rex_thread)
        return rex_fail(REX_EINVAL,
                        "module %s is being registered or ended: the log callback cannot use the "
                        "module meanwhile",
                        name);
    return rex_gate_check_outside(name);
}

/* Ends the registration of one image of a module with libomptarget. */
static void end_part(struct rex_registration *registration)
{
    const struct rex_table *table = &registration->table;
    bool kept = registration->release->late_image_ignored;
    if (registration->unload != NULL)
        registration->unload(registration);
    /*
     * Loading the image maps the host address of each global, and the mapping outlives the
     * registration. End the mapping. If the mapping stayed, an image that is loaded later could not
     * map the address to its own global.
     */
    for (uint32_t i = 0; i < table->count && !kept && !rex_runtime_disabled(); i++) {
        const void *global = table->entries[i].addr;
        if (table->entries[i].size == 0)
            continue;
        for (int device = 0; device < rex_runtime_omp()->device_count(); device++)
            if (rex_runtime_omp()->is_present(global, device))
                rex_runtime_omp()->disassociate(global, device);
    }
    publish_registration(registration, NULL);
    if (kept) {
        /*
         * LLVM 18 would not load a new image, so the registration stays for the next use of the
         * module.
         */
        __atomic_store_n(&registration->is_kept, true, __ATOMIC_RELEASE);
    } else {
        REX_REAL(unregister_lib)
        (&registration->descriptor->given);
        rex_registration_ended(registration);
        rex_modules_unclaim(registration);
    }
    if (!rex_registration_on_host(registration))
        rex_context_unhold();
}

/*
 * Ends the registrations of all images of a module. Call this only after rex_gate_register() has
 * succeeded.
 */
static void end_registration(struct rex_registration *registration)
{
    struct rex_registration *next;
    for (struct rex_registration *part = registration; part != NULL; part = next) {
        next = rex_parts_next(part);
        end_part(part);
    }
    rex_gate_registered();
    rex_mapping_ended_unseen();
}

/*
 * Registers all parts of a module except the first part, the share (module/parts.c). If a part
 * fails, ends the whole module. Returns 0 or an error.
 */
static int register_parts(struct rex_registration *registration)
{
    struct rex_kept_error cause;
    struct rex_registration *part = registration->share != NULL ? registration->next_part : NULL;
    int result = REX_OK;
    for (; result == REX_OK && part != NULL; part = part->next_part) {
        if (rex_registration_of(part->module) != NULL)
            continue;
        result = rex_register(part, NULL);
        if (result == REX_OK)
            publish_registration(part, &part->descriptor->given);
    }
    if (result == REX_OK)
        return REX_OK;
    rex_error_keep(&cause);
    if (rex_gate_register(registration->image_path, true) == REX_OK)
        end_registration(registration);
    rex_error_restore(&cause);
    return result;
}

/*
 * Registers the module. Call this only after begin_work() has returned true. Stores an error for
 * the threads that wait. Returns 0 or an error.
 */
static int make_attempt(struct rex_registration *registration, const char *name)
{
    int result = rex_register(registration, name);
    if (result == REX_OK)
        result = register_parts(registration);
    char *message = result != REX_OK ? strdup(rex_last_error()) : NULL;
    rex_registry_lock();
    free(registration->failure_message);
    registration->failure_message = message;
    registration->failure = result;
    rex_registry_unlock();
    if (result == REX_OK)
        publish_registration(registration, &registration->descriptor->given);
    end_work(registration, result == REX_OK ? REX_MODULE_REGISTERED : REX_MODULE_UNREGISTERED);
    return result;
}

/*
 * Waits for the thread that registers or ends the module. If the registration failed, returns the
 * error of the registration. Otherwise returns 0, and the caller reads the state again.
 */
static int await_attempt(struct rex_registration *registration)
{
    int result = REX_OK;
    while (__atomic_load_n(&registration->module->state, __ATOMIC_ACQUIRE) == REX_MODULE_BUSY)
        sched_yield();
    rex_registry_lock();
    if (registration->failure != REX_OK)
        result = rex_fail_again(registration->failure, registration->failure_message != NULL
                                                           ? registration->failure_message
                                                           : "out of memory");
    rex_registry_unlock();
    return result;
}

/*
 * For LLVM 18, registers all other known modules now, because LLVM 18 does not load images after
 * the first use of a device. Logs a failure; the first use of the module reports the failure again.
 * A module that the program has ended is not registered again.
 */
static void register_others(const struct rex_release *release)
{
    if (!release->late_image_ignored || rex_devices_used())
        return;
    struct rex_kept_error last;
    rex_error_keep(&last);
    for (struct rex_module *module = rex_modules_first(); module != NULL; module = module->next) {
        struct rex_registration *registration = module->registration;
        if (!rex_is_of_library(module) && rex_table_is_own(module) &&
            !__atomic_load_n(&registration->is_kept, __ATOMIC_ACQUIRE) &&
            begin_work(registration, REX_MODULE_UNREGISTERED))
            make_attempt(registration, NULL);
    }
    rex_error_restore(&last);
}

static int register_as(struct rex_module *module, const char *name)
{
    struct rex_registration *registration = rex_modules_know(module);
    if (registration == NULL)
        return REX_ENOMEM;
    while (__atomic_load_n(&module->state, __ATOMIC_ACQUIRE) != REX_MODULE_REGISTERED) {
        int result = check_worker(registration);
        if (result != REX_OK)
            return result;
        if (begin_work(registration, REX_MODULE_UNREGISTERED)) {
            result = make_attempt(registration, name);
            if (result == REX_OK)
                register_others(registration->release);
            return result;
        }
        result = await_attempt(registration);
        if (result != REX_OK)
            return result;
    }
    return REX_OK;
}

int rex_module_ready(struct rex_module *module, enum rex_need need, const char *caller)
{
    if (module != NULL && rex_registration_of(module) != NULL)
        return REX_OK;
    int result = rex_module_check(module, caller);
    if (result != REX_OK)
        return result;
    if (need >= REX_NEED_DEVICES && !rex_table_is_own(module)) {
        if (!rex_runtime_disabled())
            return rex_modules_ready(caller);
        if (need == REX_NEED_DEVICES) {
            result = rex_device_require_gpu();
            return result == REX_OK ? REX_EHOST : result;
        }
        return rex_fail(REX_EINVAL, "%s: offloading is disabled (OMP_TARGET_OFFLOAD)", caller);
    }
    result = register_as(module, NULL);
    /*
     * REX_EHOST makes the caller run its host version, so the program would not see the error.
     * Return the error itself if the caller must not run its host version.
     */
    if (need != REX_NEED_MODULE_OR_HOST || result == REX_OK || result == REX_EFORK ||
        rex_gate_is_over() || rex_setting_read(REX_OPTION_REQUIRE_GPU) ||
        rex_runtime_policy_is("mandatory"))
        return result;
    return REX_EHOST;
}

/*
 * Registers a module, so that libomptarget has devices. Tries the known modules first. If no known
 * module has entries, adds the modules of loaded shared objects, and tries again.
 */
int rex_modules_bring(void)
{
    struct rex_kept_error last;
    int result = REX_NO_ENTRIES;
    rex_error_keep(&last);
    for (int pass = 0; pass < 2 && result == REX_NO_ENTRIES; pass++) {
        struct rex_module *module;
        if (pass > 0)
            rex_modules_look_around();
        for (module = rex_modules_first(); module != NULL && !rex_devices_are_there();
             module = module->next)
            if (rex_table_is_own(module))
                result = rex_module_ready(module, REX_NEED_MODULE, "rex_module_register");
        if (rex_devices_are_there())
            result = REX_OK;
    }
    if (result == REX_OK)
        rex_error_restore(&last);
    return result;
}

int rex_modules_ready(const char *caller)
{
    int result = rex_modules_bring();
    if (result != REX_NO_ENTRIES)
        return result;
    return rex_fail(REX_EENTRIES,
                    "%s: the table of offload entries is empty in each binary that librex knows, "
                    "and without kernels there is no device: load a shared object with kernels "
                    "first, or, if the linker dropped the section omp_offloading_entries, link "
                    "with -Wl,-z,nostart-stop-gc",
                    caller);
}

int rex_module_enter(struct rex_module *module, enum rex_need need, const char *caller)
{
    for (;;) {
        int result = rex_module_ready(module, need, caller);
        if (result == REX_OK)
            result = rex_gate_enter();
        if (result != REX_OK || rex_registration_of(module) != NULL ||
            (!rex_table_is_own(module) && rex_devices_are_there()))
            return result;
        rex_gate_leave(); /* another thread ended the module meanwhile */
    }
}

/* Returns the rest of PATH after leading slashes and leading "." components. */
static const char *skip_nothing(const char *path)
{
    while (*path == '/' || (*path == '.' && (path[1] == '/' || path[1] == '\0')))
        path++;
    return path;
}

int rex_module_register(struct rex_module *module, const char *image_name)
{
    if (image_name == NULL)
        return rex_module_ready(module, REX_NEED_MODULE, "rex_module_register");
    int result = rex_module_check(module, "rex_module_register");
    if (result != REX_OK)
        return result;
    /* Compare with the module's own name for its image; "./a//b" equals "a/b". */
    const char *own = module->image_name, *name = image_name;
    bool is_own = own != NULL && (*own == '/') == (*name == '/');
    if (is_own) {
        for (own = skip_nothing(own), name = skip_nothing(name); *own != '\0' && *own == *name;) {
            bool part = *own == '/';
            own = part ? skip_nothing(own) : own + 1;
            name = part ? skip_nothing(name) : name + 1;
        }
        is_own = *own == *name;
    }
    bool is_registered = rex_registration_of(module) != NULL;
    result = register_as(module, is_own ? NULL : image_name);
    if (result != REX_OK)
        return result;
    const struct rex_registration *registration = rex_registration_of(module);
    if (registration == NULL)
        return REX_OK;
    const char *slash = strrchr(registration->image_path, '/');
    if (strcmp(image_name, registration->image_path) != 0 &&
        (slash == NULL || strcmp(image_name, slash + 1) != 0))
        rex_log(REX_LOG_INFO, "image \"%s\" was asked for, but the module %s %s%s", image_name,
                is_registered ? "keeps" : "registered", registration->image_path,
                is_registered ? ", which it registered before" : "");
    return REX_OK;
}

/* ---- the end of a module --------------------------------------------------------------------- */

/*
 * Returns true if no other module is registered. On LLVM 19 and later, all mappings end when the
 * last module ends.
 */
static bool is_last_registered(const struct rex_registration *registration)
{
    const struct rex_registration *other;
    for (const struct rex_module *module = rex_modules_first(); module != NULL;
         module = module->next)
        if ((other = rex_registration_of(module)) != NULL && other != registration &&
            other->whole != registration)
            return false;
    return true;
}

/* Returns 0 if no image of the module is in use, otherwise an error for rex_module_fini(). */
static int check_unused(const struct rex_registration *registration)
{
    bool is_last = is_last_registered(registration);
    int result = REX_OK;
    for (; result == REX_OK && registration != NULL; registration = rex_parts_next(registration))
        result = rex_before_unload(registration, registration->image_path, is_last);
    return result;
}

static bool has_deferred(const struct rex_registration *registration)
{
    while (registration != NULL && !rex_deferred_runs(registration))
        registration = rex_parts_next(registration);
    return registration != NULL;
}

int rex_module_fini(struct rex_module *module)
{
    int result = rex_module_check(module, "rex_module_fini");
    if (result != REX_OK)
        return result;
    struct rex_registration *registration = rex_registration_of(module);
    if (registration == NULL || rex_gate_is_over())
        /*
         * The module is not registered, or the process is ending. At the end of the process
         * libomptarget ends the module.
         */
        return REX_OK;
    result = check_worker(registration);
    if (result != REX_OK)
        return result;
    if (!begin_work(registration, REX_MODULE_REGISTERED))
        return REX_OK; /* not registered, or another thread registers or ends the module */
    for (bool is_over = false; !is_over;) {
        rex_deferred_wait_all();
        result = check_unused(registration);
        /*
         * If rex_gate_register() succeeds, no other thread is inside libomptarget until
         * rex_gate_registered() (omp/gate.h).
         */
        if (result == REX_OK)
            result = rex_gate_register(registration->image_path, true);
        /* Another thread may have launched since the wait. */
        is_over = result != REX_OK || !has_deferred(registration);
        if (!is_over)
            rex_gate_registered();
    }
    if (result == REX_OK)
        end_registration(registration);
    end_work(registration, result == REX_OK ? REX_MODULE_UNREGISTERED : REX_MODULE_REGISTERED);
    return result;
}

/*
 * Returns MODULE's registration, or NULL if MODULE is not registered. If MODULE is NULL, also
 * reports an error for CALLER.
 */
static const struct rex_registration *registration_for(const struct rex_module *module,
                                                       const char *caller)
{
    if (module == NULL)
        rex_fail_null(caller, "module");
    return module != NULL ? rex_registration_of(module) : NULL;
}

const char *rex_module_image_path(const struct rex_module *module)
{
    const struct rex_registration *registration = registration_for(module, "rex_module_image_path");
    return registration != NULL ? __atomic_load_n(&registration->image_path, __ATOMIC_ACQUIRE) : "";
}

bool rex_module_on_host(const struct rex_module *module)
{
    const struct rex_registration *registration = registration_for(module, "rex_module_on_host");
    return registration != NULL && rex_registration_on_host(registration);
}
