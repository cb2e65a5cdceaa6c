/*
 * library.c - loads, queries and unloads libraries.
 *
 * Implements rex/library.h; queue/librarylaunch.c launches the kernels of libraries.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "base/error.h"
#include "base/process.h"
#include "calls/calls.h"
#include "cuda/context.h"
#include "module/librarymodule.h"
#include "module/loadedimage.h"
#include "module/table.h"
#include "omp/device.h"
#include "omp/gate.h"
#include "omp/runtime.h"
#include "present/lookup.h"
#include "present/present.h"
#include "rex/library.h"

/* ---- on one device --------------------------------------------------------------------------- */

/*
 * Loads the library on the GPU of device NUMBER; does nothing if the device is the host. If NAME is
 * not NULL, *ADDRESS becomes the address of the global NAME. Messages begin with CALL, the name of
 * the public function. Returns 0 or an error.
 */
static int load_library_on_device(const struct rex_library *library, int number, const char *call,
                                  const char *name, void **address)
{
    struct rex_registration *registration = rex_library_registration(library);
    const char *path = library->image.path;
    void *context;
    int ordinal, entered = -1, result = rex_device_ordinal(call, number, &ordinal);
    if (result != REX_OK)
        return result;
    if (ordinal < 0 && number != rex_device_count())
        return rex_fail(REX_EUNSUPPORTED,
                        "%s: device image %s is for a GPU, and device %d is not an NVIDIA GPU",
                        call, path, number);
    if (ordinal < 0)
        return REX_OK;
    bool is_kept = rex_context_retain(ordinal, &context) == 0;
    if (is_kept)
        entered = rex_context_enter(context);
    if (entered < 0)
        result = rex_fail(REX_ECUDA, "device image %s: the context of GPU %d cannot be used: %s",
                          path, ordinal, rex_cuda_why());
    else if (name == NULL)
        result = rex_loaded_image_prepare(registration, ordinal, context);
    else if ((*address = rex_loaded_global_address(registration, name, ordinal, context)) == NULL)
        result = rex_last_error_code();
    rex_context_leave(entered);
    if (is_kept)
        rex_context_drop(ordinal);
    return result;
}

/* ---- load and unload ------------------------------------------------------------------------- */

int rex_library_load(struct rex_library **library, int64_t device, const void *image, size_t size,
                     const char *name)
{
    struct rex_library *made = NULL;
    int number = 0;
    if (library == NULL || name == NULL)
        return rex_fail_null("rex_library_load",
                             library == NULL ? "pointer to the library" : "name");
    rex_shelter_begin();
    int result = rex_library_open(&made, image, size, name);
    if (result != REX_OK)
        goto done;
    result = rex_device_resolve(device, &number);
    if (result != REX_OK || rex_runtime_disabled())
        goto opened;
    if (!made->is_registered) {
        result = load_library_on_device(made, number, "rex_library_load", NULL, NULL);
    } else if (number != rex_device_count()) {
        rex_device_used();
        /* In every LLVM release, libomptarget loads all images when an empty data region begins. */
        result = rex_call_data(REX_DATA_BEGIN, NULL, number, &(struct rex_map){0});
    }
opened:
    if (result == REX_OK)
        *library = made;
    else
        rex_library_drop(&made->module);
done:
    rex_shelter_end();
    return result;
}

int rex_library_unload(struct rex_library *library)
{
    if (library == NULL)
        return REX_OK;
    int result = rex_pooled_check(library, "rex_library_unload", "library");
    if (result != REX_OK)
        return result;
    rex_shelter_begin();
    result = rex_library_close(library);
    rex_shelter_end();
    return result;
}

/* ---- kernels and globals --------------------------------------------------------------------- */

/* Returns the entry of the kernel or global NAME, or NULL with the error REX_ENOKERNEL. */
static const struct __tgt_offload_entry *find_library_entry(const struct rex_library *library,
                                                            const char *name, bool kernel)
{
    const struct rex_view *view = &library->image.view;
    const struct rex_image_symbol *symbol = rex_view_find(view, name);
    const struct __tgt_offload_entry *begin = library->module.entries_begin;
    ptrdiff_t count = library->module.entries_end - begin;
    for (ptrdiff_t i = 0; symbol != NULL && symbol->kernel == kernel && i < count; i++)
        if (&view->symbols[library->symbol[i]] == symbol)
            return &begin[i];
    rex_table_lacks(NULL, view, library->image.path, name, kernel);
    return NULL;
}

const void *rex_library_kernel(const struct rex_library *library, const char *name)
{
    if (rex_pooled_check(library, "rex_library_kernel", "library") != REX_OK)
        return NULL;
    if (name == NULL) {
        rex_fail_null("rex_library_kernel", "name");
        return NULL;
    }
    const struct __tgt_offload_entry *entry = find_library_entry(library, name, true);
    return entry != NULL ? entry->addr : NULL;
}

const struct rex_image_view *rex_library_view(const struct rex_library *library)
{
    return rex_pooled_check(library, "rex_library_view", "library") == REX_OK
               ? &library->image.view.shown
               : NULL;
}

int rex_library_global(void **address, size_t *size, struct rex_library *library, int64_t device,
                       const char *name)
{
    int number = 0;
    int result = rex_pooled_check(library, "rex_library_global", "library");
    if (result != REX_OK)
        return result;
    if (address == NULL || size == NULL || name == NULL)
        return rex_fail_null("rex_library_global", address == NULL ? "pointer to the address"
                                                   : size == NULL  ? "pointer to the size"
                                                                   : "name");
    result = rex_gate_check();
    if (result == REX_OK)
        result = rex_library_check_fork(library, "rex_library_global");
    if (result == REX_OK)
        result = rex_device_resolve(device, &number);
    if (result != REX_OK)
        return result;
    rex_await_deferred(number);
    const struct rex_view *view = &library->image.view;
    const struct rex_image_symbol *symbol = rex_view_find(view, name);
    if (symbol == NULL || symbol->kernel)
        return rex_table_lacks(NULL, view, library->image.path, name, false);
    void *found = NULL;
    if (!library->is_registered) {
        result = load_library_on_device(library, number, "rex_library_global", name, &found);
        if (result != REX_OK)
            return result;
    } else if (!rex_runtime_disabled() && number != rex_device_count()) {
        const struct __tgt_offload_entry *entry = find_library_entry(library, name, false);
        if (entry == NULL)
            return REX_ENOKERNEL;
        found = rex_memory_address(entry->addr, number);
    }
    if (found == NULL)
        return rex_fail(REX_EABSENT, "rex_library_global: global \"%s\" is not on device %d%s",
                        name, number,
                        rex_runtime_disabled()         ? ": offloading is disabled"
                        : number == rex_device_count() ? ": the device is the host"
                                                       : "");
    *address = found;
    *size = symbol->size;
    return REX_OK;
}
