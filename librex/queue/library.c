/*
 * library.c - libraries: loaded, queried, launched from, unloaded.
 *
 * The functions are those of rex/library.h. A launch has its arguments by address: they become the
 * rows of a map, and the launch goes on like any other.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "calls/calls.h"
#include "cuda/context.h"
#include "launch/loadedimage.h"
#include "module/librarymodule.h"
#include "module/table.h"
#include "omp/device.h"
#include "omp/runtime.h"
#include "queue/queue.h"
#include "rex/library.h"

/* Number of arguments without an allocation. */
#define USUAL 32
/* Bytes of each argument on the host device. */
#define WORD 8u
/* Most arguments of a kernel whose image does not tell its parameters. */
#define MOST ((size_t)UINT16_MAX)

/* ---- on one device --------------------------------------------------------------------------- */

/* Finds the GPU that is device NUMBER; -1 if that is the host. Returns 0 or an error. */
static int find_gpu(const struct rex_library *library, int number, const char *call, int *ordinal)
{
    int result = rex_device_ordinal(call, number, ordinal);
    return result != REX_OK || *ordinal >= 0 || number == rex_device_count()
               ? result
               : rex_fail(REX_EUNSUPPORTED,
                          "%s: device image %s is for a GPU, and device %d is no NVIDIA GPU", call,
                          library->image.path, number);
}

static int no_context(const struct rex_library *library, int ordinal)
{
    return rex_fail(REX_ECUDA, "device image %s, on GPU %d: %s", library->image.path, ordinal,
                    rex_cuda_why());
}

/*
 * Loads the library on GPU ORDINAL; if NAME is not NULL, *ADDRESS gets the address of that global.
 */
static int load_on_gpu(const struct rex_library *library, int ordinal, const char *name,
                       void **address)
{
    struct rex_registration *registration = rex_library_registration(library);
    void *context;
    if (rex_context_retain(ordinal, &context) != 0)
        return no_context(library, ordinal);
    int entered = rex_context_enter(context), result = REX_OK;
    if (entered < 0)
        result = no_context(library, ordinal);
    else if (name == NULL)
        result = rex_loaded_image_prepare(registration, ordinal, context);
    else if ((*address = rex_loaded_global_address(registration, name, ordinal, context)) == NULL)
        result = rex_last_error_code();
    rex_context_leave(entered);
    rex_context_drop(ordinal);
    return result;
}

static int load_on(const struct rex_library *library, int64_t device)
{
    int number = 0, ordinal, result = rex_device_resolve(device, &number);
    if (result != REX_OK || rex_runtime_disabled())
        return result;
    if (library->is_registered && number == rex_device_count())
        return REX_OK;
    if (library->is_registered) {
        rex_device_used();
        /* an empty region loads all registered images, on every release */
        return rex_call_data(REX_DATA_BEGIN, NULL, number, &(struct rex_map){0});
    }
    result = find_gpu(library, number, "rex_library_load", &ordinal);
    return result == REX_OK && ordinal >= 0 ? load_on_gpu(library, ordinal, NULL, NULL) : result;
}

/* ---- load and unload ------------------------------------------------------------------------- */

static int load(struct rex_library **library, int64_t device, const void *image, size_t size,
                const char *name)
{
    struct rex_library *made = NULL;
    int result = rex_library_open(&made, image, size, name);
    if (result != REX_OK)
        return result;
    result = load_on(made, device);
    if (result == REX_OK)
        *library = made;
    else
        rex_library_drop(&made->module);
    return result;
}

int rex_library_load(struct rex_library **library, int64_t device, const void *image, size_t size,
                     const char *name)
{
    if (library == NULL || name == NULL)
        return rex_fail_null("rex_library_load", library == NULL ? "library" : "name");
    rex_shelter_begin();
    int result = load(library, device, image, size, name);
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

/* The entry of the kernel or global NAME; NULL with REX_ENOKERNEL. */
static const struct __tgt_offload_entry *find_entry(const struct rex_library *library,
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
    const struct __tgt_offload_entry *entry = find_entry(library, name, true);
    return entry != NULL ? entry->addr : NULL;
}

const struct rex_image_view *rex_library_view(const struct rex_library *library)
{
    return rex_pooled_check(library, "rex_library_view", "library") == REX_OK
               ? &library->image.view.shown
               : NULL;
}

static int not_there(const char *name, int number)
{
    return rex_fail(REX_EABSENT, "rex_library_global: global \"%s\" is not on device %d", name,
                    number);
}

static int global_of_runtime(void **address, size_t *size, const struct rex_library *library,
                             int number, const char *name)
{
    const struct __tgt_offload_entry *entry = find_entry(library, name, false);
    if (entry == NULL)
        return REX_ENOKERNEL;
    void *found = rex_runtime_disabled() || number == rex_device_count()
                      ? NULL
                      : rex_mapped_ptr(entry->addr, number);
    if (found == NULL)
        return not_there(name, number);
    *address = found;
    *size = entry->size;
    return REX_OK;
}

static int global_of_driver(void **address, size_t *size, const struct rex_library *library,
                            int number, const char *name)
{
    const struct rex_image_symbol *symbol = rex_view_find(&library->image.view, name);
    int ordinal;
    void *found = NULL;
    if (symbol == NULL || symbol->kernel)
        return rex_table_lacks(NULL, &library->image.view, library->image.path, name, false);
    int result = find_gpu(library, number, "rex_library_global", &ordinal);
    if (result == REX_OK && ordinal < 0)
        result = not_there(name, number);
    if (result == REX_OK)
        result = load_on_gpu(library, ordinal, name, &found);
    if (result != REX_OK)
        return result;
    *address = found;
    *size = symbol->size;
    return REX_OK;
}

int rex_library_global(void **address, size_t *size, struct rex_library *library, int64_t device,
                       const char *name)
{
    int number = 0;
    int result = rex_pooled_check(library, "rex_library_global", "library");
    if (result != REX_OK)
        return result;
    if (address == NULL || size == NULL || name == NULL)
        return rex_fail_null("rex_library_global", address == NULL ? "address"
                                                   : size == NULL  ? "size"
                                                                   : "name");
    result = rex_device_resolve(device, &number);
    if (result != REX_OK)
        return result;
    return library->is_registered ? global_of_runtime(address, size, library, number, name)
                                  : global_of_driver(address, size, library, number, name);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* The bytes of argument INDEX: fewer than the parameter's slot if its type is smaller. */
static size_t size_of(const struct rex_library *library, const struct rex_image_symbol *kernel,
                      size_t index)
{
    const struct rex_image_parameter *parameter = NULL;
    if (kernel->parameters != REX_PARAMETERS_UNKNOWN)
        parameter = &kernel->parameter[kernel->env + index];
    if (parameter != NULL && parameter->width != 0)
        return parameter->width;
    return parameter != NULL && !library->is_registered ? parameter->size : WORD;
}

static void fill_row(struct rex_map *map, size_t row, const void *at, size_t size)
{
    void *value = (void *)(uintptr_t)at;
    if (size <= sizeof value) {
        value = NULL;
        memcpy(&value, at, size);
    }
    map->base[row] = map->begin[row] = value;
    map->sizes[row] = (int64_t)size;
    map->types[row] = REX_MAP_LITERAL | REX_MAP_TARGET_PARAM;
}

/* A library that libomptarget does not know runs on GPUs alone. */
static int check_queue(const struct rex_library *library, const struct rex_queue *queue)
{
    if (library->is_registered || !queue->immediate)
        return REX_OK;
    if (queue->gpu.number != rex_device_count())
        return rex_fail(REX_EDEVICE,
                        "device image %s is for a GPU, and queue \"%s\" is of device %d",
                        library->image.path, queue->name, queue->gpu.number);
    return rex_fail_again(
        REX_EHOST, "nothing was launched: offloading is disabled, or the device is the host");
}

static int find_kernel(const struct rex_library *library, const void *key,
                       const struct rex_image_symbol **kernel)
{
    const struct rex_registration *registration = rex_library_registration(library);
    const struct rex_kernel *found = rex_table_find(&registration->table, key);
    if (found == NULL || found->entry->size > 0)
        return rex_fail(REX_EKEY, "host key %p is that of no kernel of device image %s", key,
                        library->image.path);
    uint32_t symbol = library->symbol[found - registration->table.kernels];
    *kernel = &rex_library_view(library)->symbols[symbol];
    return REX_OK;
}

static int check_arguments(const struct rex_image_symbol *kernel, void *const *arguments,
                           size_t count)
{
    size_t wanted = kernel->parameters != REX_PARAMETERS_UNKNOWN
                        ? (size_t)kernel->parameters - kernel->env
                    : count < MOST ? count
                                   : MOST;
    if (count != wanted)
        return rex_fail(REX_EPARAMS,
                        "kernel \"%.*s\" has %zu parameters, and the launch %zu arguments",
                        REX_KERNEL_NAME(kernel->name), wanted, count);
    for (size_t i = 0; i < count; i++)
        if (arguments[i] == NULL)
            return rex_fail(REX_EINVAL, "kernel \"%.*s\": argument %zu is at NULL",
                            REX_KERNEL_NAME(kernel->name), i);
    return REX_OK;
}

/* Launches KERNEL with a map of its arguments. */
static int launch_kernel(struct rex_library *library, const struct rex_launch_config *launch,
                         const struct rex_image_symbol *kernel, void *const *arguments,
                         size_t count)
{
    void *usual[2 * USUAL], **pointers = usual;
    int64_t usual_numbers[2 * USUAL], *numbers = usual_numbers;
    size_t size = 2 * count * (sizeof *pointers + sizeof *numbers);
    if (count > USUAL) {
        pointers = malloc(size);
        if (pointers == NULL)
            return rex_fail_memory(size, "a kernel's arguments");
        numbers = (int64_t *)(void *)(pointers + 2 * count);
    }
    struct rex_map map = {.count = (int32_t)count,
                          .base = pointers,
                          .begin = pointers + count,
                          .sizes = numbers,
                          .types = numbers + count};
    for (size_t i = 0; i < count; i++)
        fill_row(&map, i, arguments[i], size_of(library, kernel, i));
    int result = rex_module_launch_map(&library->module, launch, &map);
    if (pointers != usual)
        free(pointers);
    return result;
}

int rex_library_launch(struct rex_library *library, const struct rex_launch_config *launch,
                       void *const *arguments, size_t count)
{
    const char *missing = launch == NULL                   ? "launch"
                          : launch->queue == NULL          ? "launch's queue"
                          : arguments == NULL && count > 0 ? "array of arguments"
                                                           : NULL;
    const struct rex_image_symbol *kernel = NULL;
    int result = rex_pooled_check(library, "rex_library_launch", "library");
    if (result != REX_OK)
        return result;
    if (missing != NULL)
        return rex_fail_null("rex_library_launch", missing);
    result = check_queue(library, launch->queue);
    if (result == REX_OK)
        result = find_kernel(library, launch->key, &kernel);
    if (result == REX_OK)
        result = check_arguments(kernel, arguments, count);
    return result == REX_OK ? launch_kernel(library, launch, kernel, arguments, count) : result;
}
