/*
 * registry.c - keeps the list of the modules that librex knows, and the bytes of their images.
 * Makes sure that no two registered modules have the same host key. Has the lock for the state of
 * librex/module.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/registry.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "omp/gate.h"
#include "omp/runtime.h"

struct rex_module *rex_first_module;

static ident_t unknown_location = {0, 2, 0, 0, ";unknown;unknown;0;0;;"};

/* ---- the lock -------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Ends registrations in a child of fork. The child has no CUDA and none of libomptarget's threads:
 * a launch would hang. If another thread was changing libomptarget's data at the fork, a launch for
 * the host device could hang, too. If another thread was registering a module, the child does not
 * have that thread. The module becomes unregistered, so that no thread waits for the end of that
 * registration.
 */
static void end_modules_in_child(void)
{
    for (struct rex_module *module = rex_modules_first(); module != NULL; module = module->next) {
        struct rex_registration *registration = module->registration;
        bool registered = module->packet_rules != 0;
        bool usable = rex_registration_on_host(registration) && !rex_gate_is_torn();
        if ((!registered || usable) && module->state != REX_MODULE_BUSY)
            continue;
        if (registered)
            rex_devices_registered(-1);
        registration->forked = true;
        /* the driver's handles are invalid in a child of fork */
        memset(registration->loaded_image, 0, sizeof registration->loaded_image);
        registration->unload = NULL;
        module->packet_rules = 0;
        if (registration->worker != &rex_thread)
            registration->worker = NULL;
        module->state = REX_MODULE_UNREGISTERED;
    }
}

REX_FORK_TAKEN(56, end_modules_in_child);

void rex_registry_lock(void)
{
    rex_lock(&lock);
}

void rex_registry_unlock(void)
{
    rex_unlock(&lock);
}

/* ---- the bytes of images --------------------------------------------------------------------- */

struct retained {
    struct retained *next;
    unsigned char *bytes;
    size_t size;
    size_t holders;
    bool stays;
};

static struct retained *all_retained;

/*
 * Compares BYTES with all retained images. These images are few and rarely have equal sizes, so the
 * comparison takes less time than a hash of a megabyte.
 */
unsigned char *rex_retained(const unsigned char *bytes, size_t size)
{
    rex_registry_lock();
    struct retained *retained = all_retained;
    while (retained != NULL &&
           (retained->size != size || memcmp(retained->bytes, bytes, size) != 0))
        retained = retained->next;
    if (retained != NULL)
        retained->holders++;
    rex_registry_unlock();
    return retained != NULL ? retained->bytes : NULL;
}

int rex_retain(unsigned char *bytes, size_t size, bool stays)
{
    struct retained *retained = malloc(sizeof *retained);
    if (retained == NULL)
        return rex_fail_memory(sizeof *retained, "an image");
    *retained = (struct retained){NULL, bytes, size, 1, stays};
    rex_registry_lock();
    retained->next = all_retained;
    all_retained = retained;
    rex_registry_unlock();
    return REX_OK;
}

void rex_retained_drop(const void *bytes)
{
    rex_registry_lock();
    struct retained **at = &all_retained, *retained;
    while ((*at)->bytes != bytes)
        at = &(*at)->next;
    retained = *at;
    REX_ASSERT(retained->holders > 0);
    bool is_last = --retained->holders == 0 && !retained->stays;
    if (is_last)
        *at = retained->next;
    rex_registry_unlock();
    if (!is_last)
        return;
    free(retained->bytes);
    free(retained);
}

/* ---- the list of modules --------------------------------------------------------------------- */

struct rex_module *rex_modules_find(const void *key)
{
    struct rex_module *known = NULL;
    for (struct rex_module *module = rex_modules_first(); module != NULL; module = module->next) {
        const struct rex_registration *registration = rex_registration_of(module);
        if (registration != NULL && rex_table_find(&registration->table, key) != NULL)
            return registration->whole != NULL ? registration->whole->module : module;
        if (registration != NULL || known != NULL || rex_is_of_library(module) ||
            !rex_table_is_own(module))
            continue;
        /* librex has not checked the table yet: ignore a table that is not aligned. */
        bool aligned = (uintptr_t)module->entries_begin % sizeof(void *) == 0;
        ptrdiff_t count = aligned ? module->entries_end - module->entries_begin : 0;
        for (ptrdiff_t i = 0; i < count && known == NULL; i++)
            if (module->entries_begin[i].addr == key)
                known = module;
    }
    return known;
}

void rex_modules_list(struct rex_module *module, struct rex_registration *known)
{
    known->module = module;
    known->location = module->location;
    if (known->location == NULL || known->location->psource == NULL)
        known->location = &unknown_location;
    module->next = rex_first_module;
    __atomic_store_n(&module->registration, known, __ATOMIC_RELEASE);
    __atomic_store_n(&rex_first_module, module, __ATOMIC_RELEASE);
}

/*
 * Keeps the shared object of MODULE loaded, because libomptarget keeps the object's keys and names
 * in tables that it never clears. MODULE stays on the list, even if its registration fails.
 */
struct rex_registration *rex_modules_know(struct rex_module *module)
{
    char path[PATH_MAX];
    struct rex_registration *known = __atomic_load_n(&module->registration, __ATOMIC_ACQUIRE);
    if (known != NULL)
        return known;
    if (!rex_keep_loaded(module, path))
        rex_log(REX_LOG_WARN,
                "do not close %s with dlclose(): it has a module of librex, and the loader could "
                "not mark it to stay loaded",
                path);
    rex_registry_lock();
    if (module->registration == NULL && (known = calloc(1, sizeof *known)) != NULL)
        rex_modules_list(module, known);
    known = module->registration;
    rex_registry_unlock();
    if (known == NULL)
        rex_fail_memory(sizeof *known, "a module");
    return known;
}

int rex_module_check(const struct rex_module *module, const char *caller)
{
    if (module == NULL)
        return rex_fail_null(caller, "module");
    /* A module of an older header ends before `images_begin`. */
    if (module->struct_size < offsetof(struct rex_module, images_begin))
        return rex_fail(
            REX_EINVAL,
            "%s: the module's struct_size is %u; it must be sizeof(struct rex_module), %zu", caller,
            module->struct_size, sizeof *module);
    return REX_OK;
}

int rex_module_add(struct rex_module *module)
{
    int result = rex_module_check(module, "rex_module_add");
    if (result != REX_OK)
        return result;
    if (rex_modules_know(module) == NULL)
        return REX_ENOMEM;
    return REX_OK;
}

/* ---- modules of loaded shared objects -------------------------------------------------------- */

struct numbered {
    size_t number; /* index in the loader's list */
    char *path;
};

static int take_path(struct dl_phdr_info *object, size_t size, void *context)
{
    struct numbered *wanted = context;
    (void)size;
    if (wanted->number-- > 0)
        return 0;
    snprintf(wanted->path, PATH_MAX, "%s", object->dlpi_name);
    return 1;
}

void rex_modules_look_around(void)
{
    char path[PATH_MAX];
    /*
     * Look at one object in each call, because a callback of dl_iterate_phdr() must not open a
     * library.
     */
    for (size_t i = 0; rex_can_open_libraries(); i++) {
        struct numbered wanted = {i, path};
        if (dl_iterate_phdr(take_path, &wanted) == 0)
            return;
        /* the program itself has an empty path in the loader's list */
        void *binary = path[0] != '\0' ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (binary == NULL)
            continue;
        struct rex_module **module = dlsym(binary, "rex_binary_module");
        if (module != NULL && rex_table_is_own(*module))
            rex_module_add(*module);
        dlclose(binary);
    }
}

/* ---- conflicts between modules --------------------------------------------------------------- */

/* IMAGE is the path of the image of the module with the entry THEIRS. */
static int fail_same_key(const struct __tgt_offload_entry *ours,
                         const struct __tgt_offload_entry *theirs, const char *image)
{
    if (ours->size > 0 && theirs->size > 0)
        return rex_fail(
            REX_EKEY,
            "global \"%s\" has the host address of \"%s\" of a module that is registered already "
            "(device image %s): two binaries define the variable; give it hidden visibility in "
            "both",
            ours->name, theirs->name, image);
    return rex_fail(REX_EKEY,
                    "kernel \"%.*s\" has the host key of \"%.*s\" of a module that is registered "
                    "already (device image %s): two binaries define the same symbol NAME__id__; "
                    "give the keys hidden visibility",
                    REX_KERNEL_NAME(ours->name), REX_KERNEL_NAME(theirs->name), image);
}

int rex_modules_claim(struct rex_registration *registration, bool on_host)
{
    const struct rex_table *ours = &registration->table;
    int result = REX_OK;
    rex_registry_lock();
    REX_ASSERT(!registration->claims_keys || registration->is_kept);
    for (const struct rex_module *other = rex_first_module; other != NULL && result == REX_OK;
         other = other->next) {
        const struct rex_registration *theirs = other->registration;
        if (theirs == registration || !theirs->claims_keys)
            continue;
        /*
         * A host key belongs to one module. For each entry of the smaller table, search the larger
         * table.
         */
        bool turned = theirs->table.count < ours->count;
        const struct rex_table *small = turned ? &theirs->table : ours;
        const struct rex_table *large = turned ? ours : &theirs->table;
        for (uint32_t i = 0; i < small->count && result == REX_OK; i++) {
            const struct rex_kernel *same = rex_table_find(large, small->entries[i].addr);
            if (same == NULL)
                continue;
            const struct __tgt_offload_entry *both[] = {&small->entries[i], same->entry};
            result = fail_same_key(both[turned], both[!turned], theirs->image_path);
        }
        if (result != REX_OK || on_host == rex_registration_on_host(theirs) ||
            rex_runtime_disabled())
            continue;
        /*
         * At a device's first use libomptarget loads an image of every registered descriptor (LLVM
         * 14 to 23). If a descriptor has no image for the device, libomptarget ends the process
         * ("No image loaded for device id"). LLVM 15 to 20 may instead use another descriptor's
         * image.
         */
        result = rex_fail(
            REX_EUNSUPPORTED,
            "device image %s is for %s, but device image %s of a registered module is for %s; "
            "libomptarget ends the process if a module has no image for a device: give each "
            "module a CUBIN, or run all on the CPU (host images, and CUDA_VISIBLE_DEVICES= in the "
            "environment)",
            registration->image_path, on_host ? "the CPU" : "a GPU", theirs->image_path,
            on_host ? "a GPU" : "the CPU");
    }
    registration->claims_keys = result == REX_OK;
    /* Relaxed: see rex_registration_on_host() (module/registration.h). */
    __atomic_store_n(&registration->on_host, on_host, __ATOMIC_RELAXED);
    rex_registry_unlock();
    return result;
}

void rex_modules_unclaim(struct rex_registration *registration)
{
    rex_registry_lock();
    registration->claims_keys = false;
    rex_registry_unlock();
}
