/*
 * librarymodule.c - the module of a library: an image whose kernels are found by name, with entries
 * that librex makes for it, so that its launches are like all others.
 *
 * A host image is registered with libomptarget, as a program's is. Of an image for a GPU, which
 * the driver loads and launches, libomptarget is told nothing: it would keep every one for the life
 * of the process. But it has devices only while something is registered; where nothing is, the
 * first library's image is, and stays.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/librarymodule.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/log.h"
#include "cuda/driver.h"
#include "module/modules.h"
#include "module/tablematch.h"
#include "omp/device.h"
#include "omp/runtime.h"
#include "omp/unfinished.h"

/* ---- memory ---------------------------------------------------------------------------------- */

/*
 * Modules that libomptarget has known stay on the list of modules, and are used again. The keys and
 * names that it was given are not.
 */
static struct rex_library *unused;

static struct rex_library *new_library(void)
{
    struct rex_library *library = calloc(1, sizeof *library);
    if (library == NULL) {
        rex_fail_memory(sizeof *library, "a library");
        return NULL;
    }
    library->module.struct_size = sizeof library->module;
    library->holders = 1;
    library->forks = rex_forks();
    return library;
}

/* One whose module is on the list of modules, and is registered with no image. */
static struct rex_library *take_unused(void)
{
    rex_registry_lock();
    struct rex_library *library = unused;
    if (library != NULL)
        unused = library->next;
    rex_registry_unlock();
    if (library == NULL && (library = new_library()) != NULL &&
        rex_modules_know(&library->module) == NULL) {
        free(library);
        return NULL;
    }
    if (library != NULL) {
        library->holders = 1;
        library->is_registered = true;
        __atomic_store_n(&rex_library_registration(library)->library, library, __ATOMIC_RELEASE);
    }
    return library;
}

/* KEPT: libomptarget has seen the entries. */
static void give_back(struct rex_library *library, bool kept)
{
    struct rex_registration *registration = rex_library_registration(library);
    library->module.entries_begin = library->module.entries_end = NULL;
    library->module.image = NULL;
    registration->memory_name = NULL;
    rex_library_table_free(&library->table, !kept);
    rex_module_image_close(&library->image);
    if (__atomic_load_n(&registration->is_kept, __ATOMIC_ACQUIRE))
        return; /* it can take no other image */
    rex_registry_lock();
    library->next = unused;
    unused = library;
    rex_registry_unlock();
}

/* ---- registered with libomptarget ------------------------------------------------------------ */

static void set_entries(struct rex_library *library)
{
    library->module.entries_begin = library->table.entries;
    library->module.entries_end = library->table.entries + library->table.count;
}

static int make_table(struct rex_library *library, const struct rex_module_image *image)
{
    int result = rex_library_table_make(&library->table, &image->view);
    if (result == REX_OK && library->table.count == 0)
        result = rex_fail(REX_ENOKERNEL, "device image %s has no kernel", image->path);
    return result;
}

/* Register IMAGE, which is copied, as a module of its own. */
static int register_image(struct rex_library *library, const struct rex_module_image *image)
{
    struct rex_registration *registration = rex_library_registration(library);
    const struct rex_descriptor *before = registration->descriptor;
    int result = make_table(library, image);
    if (result == REX_OK) {
        set_entries(library);
        library->module.image = image->bytes;
        library->module.image_size = image->size;
        registration->memory_name = image->path;
        result = rex_module_register(&library->module, NULL);
    }
    if (result != REX_OK)
        give_back(library, registration->descriptor != before);
    else
        library->module.image = NULL;
    return result;
}

static int open_registered(struct rex_library **library, struct rex_module_image *image)
{
    struct rex_library *made = take_unused();
    int result = made != NULL ? register_image(made, image) : REX_ENOMEM;
    if (result != REX_OK) {
        rex_module_image_close(image);
        return result;
    }
    made->image = *image;
    rex_library_registration(made)->memory_name = made->image.path;
    *library = made;
    return REX_OK;
}

/* libomptarget has devices from now on. */
static int bring_devices(const struct rex_module_image *image)
{
    struct rex_library *first = rex_devices_are_there() ? NULL : take_unused();
    if (rex_devices_are_there())
        return first == NULL ? REX_OK : (give_back(first, false), REX_OK);
    if (first == NULL)
        return REX_ENOMEM;
    int result = register_image(first, image);
    if (result == REX_OK)
        rex_library_registration(first)->memory_name = NULL;
    return result;
}

/* ---- the driver's alone ---------------------------------------------------------------------- */

static void free_alone(struct rex_library *library)
{
    struct rex_registration *registration = rex_library_registration(library);
    if (registration != NULL) {
        if (registration->unload != NULL)
            registration->unload(registration);
        rex_unfinished_forget(registration);
        rex_table_free(&registration->table);
        free(registration->descriptor);
        free(registration);
    }
    rex_library_table_free(&library->table, true);
    rex_module_image_close(&library->image);
    free(library);
}

/* A registration that libomptarget is told nothing of. */
static int register_alone(struct rex_library *library)
{
    struct rex_module_image *image = &library->image;
    struct rex_registration *registration = calloc(1, sizeof *registration);
    struct rex_descriptor *descriptor = calloc(1, sizeof *descriptor);
    if (registration == NULL || descriptor == NULL) {
        free(registration);
        free(descriptor);
        return rex_fail_memory(sizeof *registration + sizeof *descriptor, "a library");
    }
    descriptor->image.ImageStart = image->bytes;
    descriptor->image.ImageEnd = image->bytes + image->size;
    registration->module = &library->module;
    registration->library = library;
    registration->location = &rex_unknown_location;
    registration->image_path = image->path;
    registration->descriptor = descriptor;
    library->module.registration = registration;
    set_entries(library);
    int result = rex_table_build(&registration->table, &library->module);
    if (result == REX_OK)
        result = rex_table_match(&registration->table, 0, registration->table.count, &image->view,
                                 image->path, NULL);
    if (result == REX_OK)
        library->module.packet_rules = (uintptr_t)registration;
    return result;
}

static int open_alone(struct rex_library **library, struct rex_library *made)
{
    int result = make_table(made, &made->image);
    if (result == REX_OK)
        result = bring_devices(&made->image);
    if (result == REX_OK)
        result = register_alone(made);
    if (result == REX_OK)
        *library = made;
    else
        free_alone(made);
    return result;
}

/* ---- the beginning and the end --------------------------------------------------------------- */

int rex_library_open(struct rex_library **library, const void *bytes, size_t size, const char *name)
{
    struct rex_library *made = new_library();
    int result = made != NULL ? rex_runtime_bind() : REX_ENOMEM;
    if (result == REX_OK) {
        rex_cuda_retry();
        result = rex_module_image_open_alone(&made->image, bytes, size, name);
    }
    if (result != REX_OK) {
        free(made);
        return result;
    }
    if (made->image.view.kind != REX_IMAGE_HOST && !rex_runtime_disabled())
        return open_alone(library, made);
    struct rex_module_image image = made->image;
    free(made);
    return open_registered(library, &image);
}

static int end_registered(struct rex_library *library)
{
    int result = rex_module_fini(&library->module);
    if (result == REX_OK)
        give_back(library, true);
    return result;
}

int rex_library_close(struct rex_library *library)
{
    int result = REX_OK;
    if (!library->is_registered && library->forks != rex_forks())
        return rex_fail(REX_EFORK, "rex_library_unload: %s was loaded in this process's parent",
                        library->image.path);
    if (!library->is_registered)
        result = rex_before_library_unload(rex_library_registration(library));
    else if (__atomic_load_n(&library->holders, __ATOMIC_ACQUIRE) == 1)
        return end_registered(library);
    if (result == REX_OK)
        rex_library_drop(&library->module);
    return result;
}

static struct rex_library *library_of(const struct rex_module *module)
{
    return rex_is_of_library(module) ? ((struct rex_registration *)module->registration)->library
                                     : NULL;
}

void rex_library_hold(struct rex_module *module)
{
    struct rex_library *library = library_of(module);
    if (library != NULL)
        __atomic_add_fetch(&library->holders, 1, __ATOMIC_ACQ_REL);
}

/* In a child of fork nothing of a GPU can be given back. */
void rex_library_drop(struct rex_module *module)
{
    struct rex_library *library = library_of(module);
    if (library == NULL || __atomic_sub_fetch(&library->holders, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (!library->is_registered && library->forks == rex_forks())
        free_alone(library);
    else if (library->is_registered && end_registered(library) != REX_OK)
        rex_log(REX_LOG_WARN, "%s stays: %s", library->image.path, rex_last_error());
}
