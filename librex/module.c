/*
 * module.c - registration of modules, once, whoever asks and however many at a time.
 *
 * `state` of a module is the number of the attempt and, in its two low bits, what it came to:
 *
 *     UNREGISTERED -> BUSY -> REGISTERED -> BUSY -> UNREGISTERED
 *                          -> UNREGISTERED (the attempt failed)
 *
 * The thread whose compare-and-swap makes it BUSY does the work; the others yield until it is done and share its result.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "device.h"
#include "error.h"
#include "log.h"
#include "mapping.h"
#include "pending.h"
#include "place.h"
#include "registration.h"
#include "runtime.h"

enum { UNREGISTERED, BUSY, REGISTERED, STATE_MASK = 3, NEXT_ATTEMPT = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, the claims and the failures */
static struct rex_module *modules;
int rex_devices;
static int used;

/* ---- devices --------------------------------------------------------------------------------------------------------------- */

int rex_devices_ask(void)
{
    /* Where offloading is disabled every call returns -1 whatever the device, and there is no number to check. */
    int count = rex_runtime_disabled() ? INT_MAX - 1 : rex_runtime_device_count();
    __atomic_store_n(&rex_devices, count, __ATOMIC_RELAXED);
    return count;
}

int rex_device_count(void)
{
    for (const struct rex_module *module = rex_modules_first(); module != NULL; module = module->next)
        if (rex_registration_of(module) != NULL)
            return rex_runtime_disabled() ? 0 : rex_runtime_device_count();
    return 0;
}

void rex_device_used(const struct rex_release *release)
{
    if (release->late_image_ignored)
        __atomic_store_n(&used, 1, __ATOMIC_RELAXED);
}

/* ---- the list of modules --------------------------------------------------------------------------------------------------- */

struct rex_module *rex_modules_first(void)
{
    return __atomic_load_n(&modules, __ATOMIC_ACQUIRE);
}

static int has_key(const struct rex_module *module, const void *key)
{
    const struct rex_registration *registration = rex_registration_of(module);
    if (registration != NULL)
        return rex_table_find(&registration->table, key) >= 0;
    /* By number, rounded down: a table that nobody has checked yet may be misshapen. */
    bool aligned = (uintptr_t)module->entries_begin % sizeof(void *) == 0;
    ptrdiff_t count = module->entries_begin != NULL && aligned ? module->entries_end - module->entries_begin : 0;
    for (ptrdiff_t i = 0; i < count; i++)
        if (module->entries_begin[i].addr == key)
            return 1;
    return 0;
}

struct rex_module *rex_modules_find(const void *key)
{
    struct rex_module *known = NULL;
    for (struct rex_module *module = rex_modules_first(); module != NULL; module = module->next)
        if (has_key(module, key)) {
            if (rex_registration_of(module) != NULL)
                return module;
            known = known != NULL ? known : module;
        }
    return known;
}

/*
 * A shared object must not go away: its module is on our list, even if its registration fails, and libomptarget keeps its keys and names
 * in tables that are never cleared.
 */
static void pin(const struct rex_module *module)
{
    char path[PATH_MAX];
    if (!rex_place_is_main(module, path) && dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) == NULL)
        rex_log(REX_LOG_WARN, "%s cannot be pinned; do not dlclose it", path);
}

/* The module's registration, made and put on the list the first time; NULL where memory ran out. */
static struct rex_registration *know(struct rex_module *module)
{
    struct rex_registration *known = __atomic_load_n(&module->registration, __ATOMIC_ACQUIRE);
    if (known != NULL)
        return known;
    pin(module);
    pthread_mutex_lock(&lock);
    if (module->registration == NULL && (known = calloc(1, sizeof *known)) != NULL) {
        known->module = module;
        known->place = module->place != NULL ? module->place : &rex_unknown_place;
        module->next = modules;
        __atomic_store_n(&module->registration, known, __ATOMIC_RELEASE);
        __atomic_store_n(&modules, module, __ATOMIC_RELEASE);
    }
    known = module->registration;
    pthread_mutex_unlock(&lock);
    if (known == NULL)
        rex_fail_memory(sizeof *known, "a module");
    return known;
}

static int check_module(const struct rex_module *module, const char *caller)
{
    if (module == NULL)
        return rex_fail(REX_EINVAL, "%s: the module is NULL", caller);
    if (module->struct_size < sizeof *module)
        return rex_fail(REX_EINVAL, "%s: the module's struct_size is %u; it must be sizeof(struct rex_module), %zu", caller,
                        module->struct_size, sizeof *module);
    return REX_OK;
}

int rex_module_add(struct rex_module *module)
{
    int result = check_module(module, "rex_module_add");
    if (result == REX_OK && know(module) == NULL)
        result = REX_ENOMEM;
    return result;
}

/* ---- host keys belong to one module ---------------------------------------------------------------------------------------- */

/* The smaller table is looked up in the larger one. */
static int conflict(const struct rex_table *ours, const struct rex_table *theirs)
{
    bool turned = theirs->count < ours->count;
    const struct rex_table *small = turned ? theirs : ours, *large = turned ? ours : theirs;
    for (uint32_t i = 0; i < small->count; i++) {
        int64_t at = rex_table_find(large, small->entries[i].addr);
        if (at < 0)
            continue;
        const char *names[] = {small->entries[i].name, large->entries[at].name};
        return rex_fail(REX_EKEY,
                        "kernel \"%s\" has the host key of \"%s\" in a module that is registered already: two binaries define one symbol "
                        "id__; make the keys hidden",
                        names[turned], names[!turned]);
    }
    return REX_OK;
}

static int claim_keys(struct rex_registration *registration)
{
    int result = REX_OK;
    pthread_mutex_lock(&lock);
    for (const struct rex_module *other = modules; other != NULL && result == REX_OK; other = other->next) {
        const struct rex_registration *theirs = other->registration;
        if (theirs != registration && theirs->claims_keys)
            result = conflict(&registration->table, &theirs->table);
    }
    registration->claims_keys = result == REX_OK;
    pthread_mutex_unlock(&lock);
    return result;
}

static void release_keys(struct rex_registration *registration)
{
    pthread_mutex_lock(&lock);
    registration->claims_keys = false;
    pthread_mutex_unlock(&lock);
}

/* ---- one attempt ------------------------------------------------------------------------------------------------------------ */

static int give_to_runtime(struct rex_registration *registration, const struct rex_image *image, struct rex_record *record)
{
    int already = __atomic_load_n(&used, __ATOMIC_RELAXED);
    if (registration->release->late_image_ignored && already)
        return rex_fail(REX_EUNSUPPORTED, "device image %s: LLVM %d loads no image that is registered after a device was used", image->path,
                        registration->release->number);
    if (image->view.kind == REX_IMAGE_CUBIN)
        rex_context_activate(image->view.architecture);
    REX_REAL(register_lib)(&record->descriptor);
    if (rex_devices_ask() > 0)
        return REX_OK;
    REX_REAL(unregister_lib)(&record->descriptor);
    if (image->view.kind == REX_IMAGE_CUBIN)
        rex_context_release();
    char trouble[256];
    const char *cause = rex_runtime_doubt();
    if (*cause == '\0' && image->view.kind == REX_IMAGE_CUBIN && rex_device_trouble(registration->release, trouble, sizeof trouble))
        cause = trouble;
    return rex_fail(REX_ERUNTIME, "LLVM %d's libomptarget (%s) accepted device image %s for no device%s%s", registration->release->number,
                    rex_runtime_path(), image->path, *cause != '\0' ? "; " : "", cause);
}

/* In a child neither CUDA nor libomptarget's threads are there any more; a launch would hang. */
static void after_fork(void)
{
    for (struct rex_module *module = modules; module != NULL; module = module->next) {
        struct rex_registration *registration = rex_registration_of(module);
        if (registration == NULL || registration->on_host)
            continue;
        registration->forked = true;
        registration->queue_images = NULL; /* the driver's handles mean nothing here */
        registration->unload = NULL;
        module->packet_rules = 0;
        module->state = (module->state & ~(uintptr_t)STATE_MASK) | UNREGISTERED;
    }
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

/* What the short way of a launch asks (packet.c). */
static void prepare_launches(struct rex_registration *registration)
{
    for (size_t i = 0; i < REX_RECENT; i++)
        registration->recent[i] = &rex_never_launched;
    registration->devices = (uint64_t)rex_devices_known() + 2;
    registration->most_teams = registration->release->most_teams > 0 ? registration->release->most_teams : INT32_MAX;
}

static int keep_path(struct rex_registration *registration, const char *path)
{
    if (registration->image_path != NULL && strcmp(registration->image_path, path) == 0)
        return REX_OK;
    char *copy = strdup(path);
    if (copy == NULL)
        return rex_fail_memory(strlen(path) + 1, "an image's path");
    free(registration->image_path);
    registration->image_path = copy;
    return REX_OK;
}

static int register_image(struct rex_registration *registration, struct rex_image *image)
{
    struct rex_record *record = NULL;
    int result = keep_path(registration, image->path);
    if (result == REX_OK)
        result = rex_table_match(&registration->table, image, registration->release);
    if (result == REX_OK)
        result = claim_keys(registration);
    if (result != REX_OK)
        return result;
    result = rex_record_new(registration, image, registration->record != NULL, &record);
    if (result == REX_OK)
        result = rex_image_keep(image);
    if (result == REX_OK) {
        /* From here on the runtime may have seen the record, so it stays. */
        record->previous = registration->record;
        registration->record = record;
        result = give_to_runtime(registration, image, record);
    } else
        free(record);
    if (result != REX_OK) {
        release_keys(registration);
        return result;
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    prepare_launches(registration);
    registration->on_host = image->view.kind == REX_IMAGE_HOST;
    if (!registration->on_host)
        pthread_once(&once, watch_forks);
    rex_log(REX_LOG_INFO, "registered %s for %u offload entries", image->path, registration->table.count);
    return REX_OK;
}

static int attempt(struct rex_registration *registration, const char *name)
{
    struct rex_image image;
    if (registration->forked)
        return rex_fail(REX_EFORK, "this process was forked after its parent registered %s for a GPU: start the child with exec, or fork first",
                        registration->image_path);
    int result = rex_table_build(&registration->table, registration->module);
    if (result == REX_OK)
        result = rex_runtime_bind();
    if (result != REX_OK)
        return result;
    registration->release = rex_runtime();
    result = rex_image_open(&image, registration->module, name, registration->release);
    if (result == REX_OK) {
        result = register_image(registration, &image);
        rex_image_close(&image);
    }
    return result;
}

/* ---- the state -------------------------------------------------------------------------------------------------------------- */

static void publish(struct rex_registration *registration, struct __tgt_bin_desc *descriptor)
{
    struct rex_module *module = registration->module;
    if (module->descriptor != NULL)
        __atomic_store_n(module->descriptor, descriptor, __ATOMIC_RELEASE);
    __atomic_store_n(&module->packet_rules, descriptor != NULL ? (uintptr_t)registration : 0, __ATOMIC_RELEASE);
}

static void note_failure(struct rex_registration *registration, uintptr_t number, int result)
{
    char *message = strdup(rex_last_error());
    pthread_mutex_lock(&lock);
    free(registration->failure_message);
    registration->failure_message = message;
    registration->failure = result;
    registration->failed_attempt = number;
    pthread_mutex_unlock(&lock);
}

/* The failure of attempt NUMBER, as the waiting thread's own; 0 if that attempt did not fail. */
static int shared_failure(struct rex_registration *registration, uintptr_t number)
{
    int result = REX_OK;
    pthread_mutex_lock(&lock);
    if (registration->failed_attempt == number)
        result = rex_fail_again(registration->failure,
                                registration->failure_message != NULL ? registration->failure_message : "out of memory");
    pthread_mutex_unlock(&lock);
    return result;
}

/* Do the work of attempt NUMBER, with the state BUSY. */
static int work(struct rex_registration *registration, uintptr_t number, const char *name)
{
    int result = attempt(registration, name);
    if (result == REX_OK)
        publish(registration, &registration->record->descriptor);
    else
        note_failure(registration, number, result);
    __atomic_store_n(&registration->module->state, number | (result == REX_OK ? REGISTERED : UNREGISTERED), __ATOMIC_RELEASE);
    return result;
}

/* Wait for the attempt that made the state BUSY. Its failure, or 0: look at the state again. */
static int await(struct rex_registration *registration, uintptr_t busy)
{
    while (__atomic_load_n(&registration->module->state, __ATOMIC_ACQUIRE) == busy)
        sched_yield();
    return shared_failure(registration, busy & ~(uintptr_t)STATE_MASK);
}

static int register_as(struct rex_module *module, const char *name)
{
    struct rex_registration *registration = know(module);
    int result = REX_OK;
    if (registration == NULL)
        return REX_ENOMEM;
    while (result == REX_OK) {
        uintptr_t state = __atomic_load_n(&module->state, __ATOMIC_ACQUIRE);
        uintptr_t number = (state & ~(uintptr_t)STATE_MASK) + NEXT_ATTEMPT;
        if ((state & STATE_MASK) == REGISTERED)
            return REX_OK;
        if ((state & STATE_MASK) == BUSY)
            result = await(registration, state);
        else if (__atomic_compare_exchange_n(&module->state, &state, number | BUSY, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return work(registration, number, name);
    }
    return result;
}

int rex_module_register(struct rex_module *module)
{
    if (module != NULL && rex_registration_of(module) != NULL)
        return REX_OK;
    int result = check_module(module, "rex_module_register");
    return result == REX_OK ? register_as(module, NULL) : result;
}

struct __tgt_bin_desc *rex_module_register_image(struct rex_module *module, const char *name)
{
    if (check_module(module, "rex_module_register_image") != REX_OK || register_as(module, name) != REX_OK)
        return NULL;
    struct rex_registration *registration = rex_registration_of(module);
    if (registration == NULL) {
        rex_fail(REX_EINVAL, "rex_module_register_image: another thread unregistered the module");
        return NULL;
    }
    const char *slash = strrchr(registration->image_path, '/');
    if (name != NULL && strcmp(name, registration->image_path) != 0 && (slash == NULL || strcmp(name, slash + 1) != 0))
        rex_log(REX_LOG_INFO, "\"%s\" was asked for; registered is %s", name, registration->image_path);
    return &registration->record->descriptor;
}

/* ---- load, and the end ------------------------------------------------------------------------------------------------------ */

int rex_module_init(struct rex_module *module)
{
    int result = rex_module_register(module);
    if (result != REX_OK || rex_runtime_disabled())
        return result;
    if ((result = rex_module_check_map(module, -1, 0, NULL, NULL, NULL, NULL)) != REX_OK)
        return result;
    /* An empty region loads the image, on every release. */
    REX_REAL(target_data_begin)(-1, 0, NULL, NULL, NULL, NULL);
    return REX_OK;
}

static void unmap_globals(const struct rex_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->entries[i].size > 0 && !rex_runtime_disabled())
            rex_runtime_unmap_global(table->entries[i].addr);
}

/* Is no other module registered? From LLVM 19 on all mappings end with the last one. */
static bool is_last(const struct rex_registration *registration)
{
    for (const struct rex_module *module = rex_modules_first(); module != NULL; module = module->next)
        if (module != registration->module && rex_registration_of(module) != NULL)
            return false;
    return true;
}

int rex_module_fini(struct rex_module *module)
{
    int result = check_module(module, "rex_module_fini");
    struct rex_registration *registration = result == REX_OK ? rex_registration_of(module) : NULL;
    if (registration == NULL)
        return result;
    uintptr_t state = __atomic_load_n(&module->state, __ATOMIC_ACQUIRE);
    uintptr_t number = (state & ~(uintptr_t)STATE_MASK) + NEXT_ATTEMPT;
    if ((state & STATE_MASK) != REGISTERED ||
        !__atomic_compare_exchange_n(&module->state, &state, number | BUSY, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return REX_OK; /* another thread is ending it */
    if ((result = rex_pending_unload(registration, is_last(registration))) != REX_OK) {
        __atomic_store_n(&module->state, state, __ATOMIC_RELEASE);
        return result;
    }
    if (registration->unload != NULL)
        registration->unload(registration);
    publish(registration, NULL);
    unmap_globals(&registration->table);
    REX_REAL(unregister_lib)(&registration->record->descriptor);
    rex_mapping_ended();
    if (!registration->on_host)
        rex_context_release();
    release_keys(registration);
    __atomic_store_n(&module->state, number | UNREGISTERED, __ATOMIC_RELEASE);
    return REX_OK;
}

const char *rex_module_image_path(const struct rex_module *module)
{
    const struct rex_registration *registration = module != NULL ? rex_registration_of(module) : NULL;
    return registration != NULL ? registration->image_path : "";
}

int rex_module_on_host(const struct rex_module *module)
{
    const struct rex_registration *registration = module != NULL ? rex_registration_of(module) : NULL;
    return registration != NULL && registration->on_host;
}
