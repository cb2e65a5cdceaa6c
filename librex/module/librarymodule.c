/*
 * librarymodule.c - makes the module of a library: an image whose kernels are found by name. librex
 * makes entries for the image. The kernels of the image are then launched like the kernels of a
 * program.
 *
 * A host image is registered with libomptarget, as a program's image is. An image for a GPU is
 * loaded and launched by the driver. librex does not register an image for a GPU, because most LLVM
 * releases would keep the image until the process ends. But libomptarget has devices only while an
 * image is registered. So if no image is registered, librex also registers the first library's
 * image, and keeps it registered.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/librarymodule.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "calls/forward.h"
#include "cuda/driver.h"
#include "module/registry.h"
#include "module/table.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "omp/runtime.h"
#include "present/unfinished.h"

/* ---- entries --------------------------------------------------------------------------------- */

/*
 * Returns symbol I of the image if the symbol needs an entry, else NULL. Kernels need an entry, and
 * so do the globals of host images. Globals on a GPU need none, because the driver finds them. If
 * the image has a table of entries, I is the index of a row in that table, otherwise the index of a
 * symbol.
 */
static const struct rex_image_symbol *symbol_with_entry(const struct rex_view *view, size_t i)
{
    const struct rex_image_symbol *symbol =
        view->position_count > 0 ? rex_view_find(view, view->positions[i]) : &view->symbols[i];
    if (symbol == NULL || symbol->kernel)
        return symbol;
    return view->kind == REX_IMAGE_HOST && symbol->size > 0 ? symbol : NULL;
}

/*
 * Makes the entries. One block holds the entries, the keys of kernels and the names. The keys are
 * adjacent bytes, as in a program. A global has an entry only in a host image. Each such global
 * gets host memory of its size, which libomptarget maps to the device's global. librex copies
 * nothing between the host memory and the device's global.
 */
static int make_library_entries(struct rex_library *library, const struct rex_module_image *image)
{
    const struct rex_view *view = &image->view;
    struct rex_module *module = &library->module;
    const struct rex_image_symbol *symbol;
    size_t most = view->position_count > 0 ? view->position_count : view->count;
    size_t size = most * (sizeof *module->entries_begin + 1) + 1;
    for (size_t i = 0; i < most; i++)
        size += (symbol = symbol_with_entry(view, i)) != NULL ? strlen(symbol->name) + 1 : 0;
    module->entries_begin = module->entries_end = calloc(1, size);
    library->symbol = calloc(most + 1, sizeof *library->symbol);
    if (module->entries_begin == NULL || library->symbol == NULL)
        return rex_fail_memory(size, "the entries of a library");
    char *key = (char *)(module->entries_begin + most), *name = key + most;
    for (size_t i = 0; i < most; i++) {
        if ((symbol = symbol_with_entry(view, i)) == NULL)
            continue;
        struct __tgt_offload_entry *entry = module->entries_end++;
        library->symbol[entry - module->entries_begin] = (uint32_t)(symbol - view->symbols);
        entry->name = strcpy(name, symbol->name);
        entry->size = symbol->kernel ? 0 : symbol->size;
        entry->addr = symbol->kernel ? key++ : calloc(1, symbol->size);
        if (entry->addr == NULL)
            return rex_fail_memory(symbol->size, "the entries of a library");
        name += strlen(name) + 1;
    }
    if (module->entries_end == module->entries_begin)
        return rex_fail(REX_ENOKERNEL, "device image %s has no kernel", image->path);
    return REX_OK;
}

/*
 * Removes the entries from LIBRARY, and frees them. If KEPT is true, does not free the entries,
 * their names and the host memory of globals, because libomptarget still reads the entries.
 */
static void end_library_entries(struct rex_library *library, bool kept)
{
    struct rex_module *module = &library->module;
    struct __tgt_offload_entry *begin = module->entries_begin, *end = module->entries_end;
    module->entries_begin = module->entries_end = NULL;
    free(library->symbol);
    library->symbol = NULL;
    if (kept)
        return;
    for (struct __tgt_offload_entry *entry = begin; entry < end; entry++)
        if (entry->size > 0)
            free(entry->addr);
    free(begin);
}

/* ---- registered with libomptarget ------------------------------------------------------------ */

static struct rex_pool pool = {.size = sizeof(struct rex_library), .what = "a library"};

static struct rex_library *new_library(void)
{
    struct rex_library *library = rex_pool_take(&pool);
    if (library == NULL)
        return NULL;
    library->module.struct_size = sizeof library->module;
    library->holders = 1;
    library->forks = rex_forks();
    return library;
}

/*
 * Ended libraries that librex uses again, because their modules cannot be removed from the list of
 * modules. A library loses its entries when it ends.
 */
static struct rex_library *unused;

/*
 * Returns a library whose module is on the list of modules and has no image. Returns NULL if memory
 * ran out.
 */
static struct rex_library *take_library(void)
{
    rex_registry_lock();
    struct rex_library *library = unused;
    if (library != NULL)
        unused = library->next;
    rex_registry_unlock();
    if (library == NULL)
        library = new_library();
    if (library == NULL)
        return NULL;
    if (rex_modules_know(&library->module) == NULL) {
        rex_pool_give(&pool, &library->pooled);
        return NULL;
    }
    library->pooled.forks = rex_forks();
    library->holders = 1;
    library->is_registered = true;
    __atomic_store_n(&rex_library_registration(library)->library, library, __ATOMIC_RELEASE);
    return library;
}

/*
 * Ends LIBRARY. Adds LIBRARY to the list `unused`, unless libomptarget keeps the descriptor
 * (`is_kept`). SEEN is true if libomptarget has seen the entries. Use this for a library of
 * take_library().
 */
static void give_library_back(struct rex_library *library, bool seen)
{
    struct rex_registration *registration = rex_library_registration(library);
    library->pooled.forks = REX_ENDED;
    rex_unfinished_forget(registration);
    end_library_entries(library, seen && !registration->release->entries_copied);
    rex_module_image_close(&library->image);
    if (__atomic_load_n(&registration->is_kept, __ATOMIC_ACQUIRE))
        return; /* the registration cannot be used for another image */
    rex_registry_lock();
    library->next = unused;
    unused = library;
    rex_registry_unlock();
}

/*
 * Registers a copy of IMAGE with libomptarget, as the image of LIBRARY's module. Returns 0 or an
 * error. After an error LIBRARY has ended (give_library_back()).
 */
static int register_library(struct rex_library *library, const struct rex_module_image *image)
{
    struct rex_registration *registration = rex_library_registration(library);
    const struct rex_descriptor *before = registration->descriptor;
    int result = make_library_entries(library, image);
    library->module.image = image->bytes;
    library->module.image_size = image->size;
    registration->memory_name = image->path;
    if (result == REX_OK)
        result = rex_module_register(&library->module, NULL);
    library->module.image = NULL;
    registration->memory_name = NULL;
    if (result != REX_OK)
        give_library_back(library, registration->descriptor != before);
    return result;
}

/* ---- launched only by the driver ------------------------------------------------------------- */

static void free_library_alone(struct rex_library *library)
{
    struct rex_registration *registration = rex_library_registration(library);
    if (registration != NULL) {
        if (registration->unload != NULL)
            registration->unload(registration);
        rex_unfinished_forget(registration);
        rex_table_free(&registration->table);
        free(registration);
    }
    end_library_entries(library, false);
    rex_module_image_close(&library->image);
    rex_pool_give(&pool, &library->pooled);
}

/*
 * Opens LIBRARY's image with a registration that libomptarget does not see. Use this only if the
 * image is for a GPU. If libomptarget has no devices, also registers the image with libomptarget,
 * in a second library that the program does not see. Two threads may find no devices at the same
 * time, and both register an image; this costs only memory. Returns 0 or an error. After an error
 * LIBRARY has ended.
 */
static int open_library_alone(struct rex_library *library)
{
    struct rex_module_image *image = &library->image;
    struct rex_registration *registration;
    struct rex_descriptor *descriptor;
    size_t size = sizeof *registration + sizeof *descriptor;
    int result = make_library_entries(library, image);
    if (result == REX_OK && !rex_devices_are_there()) {
        struct rex_library *first = take_library();
        result = first != NULL ? register_library(first, image) : REX_ENOMEM;
    }
    if (result != REX_OK)
        goto fail;
    registration = calloc(1, size);
    if (registration == NULL) {
        result = rex_fail_memory(size, "a library");
        goto fail;
    }
    descriptor = (struct rex_descriptor *)(registration + 1);
    descriptor->image.ImageStart = image->bytes;
    descriptor->image.ImageEnd = image->bytes + image->size;
    registration->module = &library->module;
    registration->library = library;
    registration->image_path = image->path;
    registration->descriptor = descriptor;
    library->module.registration = registration;
    result = rex_table_build(&registration->table, &library->module);
    if (result == REX_OK)
        result = rex_table_match(&registration->table, &image->view, image->path, NULL);
    if (result != REX_OK)
        goto fail;
    library->module.packet_rules = (uintptr_t)registration;
    return REX_OK;
fail:
    free_library_alone(library);
    return result;
}

/* ---- opening and closing --------------------------------------------------------------------- */

int rex_library_open(struct rex_library **library, const void *bytes, size_t size, const char *name)
{
    struct rex_module_image image;
    int result = rex_gate_check();
    if (result == REX_OK)
        result = rex_runtime_start();
    if (result == REX_OK)
        result = rex_module_image_open_alone(&image, bytes, size, name);
    if (result != REX_OK)
        return result;
    bool alone = image.view.kind != REX_IMAGE_HOST && !rex_runtime_disabled();
    struct rex_library *made = alone ? new_library() : take_library();
    if (made == NULL) {
        rex_module_image_close(&image);
        return REX_ENOMEM;
    }
    made->image = image;
    result = alone ? open_library_alone(made) : register_library(made, &made->image);
    if (result == REX_OK)
        *library = made;
    return result;
}

static int end_library(struct rex_library *library)
{
    int result = rex_module_fini(&library->module);
    if (result == REX_OK)
        give_library_back(library, true);
    return result;
}

int rex_library_check_fork(const struct rex_library *library, const char *call)
{
    if (library->is_registered || library->forks == rex_forks())
        return REX_OK;
    return rex_fail(REX_EFORK, "%s: %s was loaded in this process's parent", call,
                    library->image.path);
}

int rex_library_close(struct rex_library *library)
{
    if (library->is_registered && __atomic_load_n(&library->holders, __ATOMIC_ACQUIRE) == 1)
        return end_library(library);
    if (!library->is_registered) {
        int result = rex_library_check_fork(library, "rex_library_unload");
        if (result == REX_OK)
            result = rex_gate_check_outside(library->image.path);
        if (result == REX_OK)
            result =
                rex_before_library_unload(rex_library_registration(library), library->image.path);
        if (result != REX_OK)
            return result;
    }
    library->pooled.forks = REX_ENDED;
    rex_library_drop(&library->module);
    return REX_OK;
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

/*
 * A child of fork cannot free the parent's GPU memory. So a child does not free a library that the
 * parent loaded for a GPU.
 */
void rex_library_drop(struct rex_module *module)
{
    struct rex_library *library = library_of(module);
    REX_ASSERT(library == NULL || __atomic_load_n(&library->holders, __ATOMIC_ACQUIRE) > 0);
    if (library == NULL || __atomic_sub_fetch(&library->holders, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (!library->is_registered && library->forks == rex_forks())
        free_library_alone(library);
    else if (library->is_registered && end_library(library) != REX_OK)
        rex_log(REX_LOG_WARN, "library %s could not be unloaded, and stays loaded: %s",
                library->image.path, rex_last_error());
}
