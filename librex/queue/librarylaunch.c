/*
 * librarylaunch.c - launches of a library's kernels: arguments by address become the rows of a map,
 * and the launch goes on like any other.
 *
 * Implements rex_library_launch() of rex/library.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "module/librarymodule.h"
#include "omp/device.h"
#include "queue/queuestate.h"
#include "rex/library.h"

/* Number of arguments without an allocation. */
#define USUAL 32
/* Bytes of each argument on the host device. */
#define WORD 8u
/* Most arguments of a kernel whose image does not tell its parameters. */
#define MOST ((size_t)UINT16_MAX)

/* A kernel, and its parameters in the image, without the runtime's. */
struct kernel {
    const char *name;
    const struct rex_image_parameter *parameter; /* NULL: unknown */
    size_t count;
    bool words; /* each argument is a word */
};

/* ---- number and sizes ------------------------------------------------------------------------ */

static struct kernel kernel_of(const struct rex_library *library, uint32_t position, size_t given)
{
    const struct rex_image_view *view = rex_library_view(library);
    const struct rex_image_symbol *symbol = &view->symbols[library->symbol[position]];
    struct kernel kernel = {.name = symbol->name, .words = library->is_registered};
    if (symbol->parameters == REX_PARAMETERS_UNKNOWN) {
        kernel.count = given < MOST ? given : MOST;
        return kernel;
    }
    kernel.count = (size_t)symbol->parameters - symbol->env;
    if (kernel.count > 0)
        kernel.parameter = symbol->parameter + symbol->env;
    return kernel;
}

/* The bytes of an argument: fewer than the parameter's slot if its type is smaller. */
static size_t size_of(const struct kernel *kernel, size_t index)
{
    const struct rex_image_parameter *parameter =
        kernel->parameter != NULL ? &kernel->parameter[index] : NULL;
    if (parameter != NULL && parameter->width != 0)
        return parameter->width;
    return parameter != NULL && !kernel->words ? parameter->size : WORD;
}

static int check_arguments(const struct kernel *kernel, void *const *arguments, size_t count)
{
    if (count != kernel->count)
        return rex_fail(REX_EPARAMS,
                        "kernel \"%s\" has %zu parameters, and the launch %zu arguments",
                        kernel->name, kernel->count, count);
    for (size_t i = 0; i < count; i++)
        if (arguments[i] == NULL)
            return rex_fail(REX_EINVAL, "kernel \"%s\": argument %zu is at NULL", kernel->name, i);
    return REX_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

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

static int launch_with(struct rex_library *library, const struct rex_launch_config *launch,
                       const struct kernel *kernel, void *const *arguments, struct rex_map *map)
{
    for (size_t i = 0; i < kernel->count; i++)
        fill_row(map, i, arguments[i], size_of(kernel, i));
    return rex_module_launch_map(&library->module, launch, map);
}

static int launch_many(struct rex_library *library, const struct rex_launch_config *launch,
                       const struct kernel *kernel, void *const *arguments)
{
    size_t size = kernel->count * (2 * sizeof(void *) + 2 * sizeof(int64_t));
    void **bases = malloc(size);
    if (bases == NULL)
        return rex_fail_memory(size, "a kernel's arguments");
    int64_t *sizes = (int64_t *)(void *)(bases + 2 * kernel->count);
    struct rex_map map = {.count = (int32_t)kernel->count,
                          .base = bases,
                          .begin = bases + kernel->count,
                          .sizes = sizes,
                          .types = sizes + kernel->count};
    int result = launch_with(library, launch, kernel, arguments, &map);
    free(bases);
    return result;
}

/* ---- the launch ------------------------------------------------------------------------------ */

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

static int find_kernel(const struct rex_library *library, const struct rex_launch_config *launch,
                       uint32_t *position)
{
    const struct rex_registration *registration = rex_library_registration(library);
    const struct rex_kernel *found = rex_table_find(&registration->table, launch->key);
    if (found == NULL || found->entry->size > 0)
        return rex_fail(REX_EKEY, "host key %p is that of no kernel of device image %s",
                        launch->key, library->image.path);
    *position = (uint32_t)(found - registration->table.kernels);
    return REX_OK;
}

static int launch_checked(struct rex_library *library, const struct rex_launch_config *launch,
                          void *const *arguments, size_t count)
{
    void *bases[USUAL], *begins[USUAL];
    int64_t sizes[USUAL], types[USUAL];
    uint32_t position = 0;
    int result = check_queue(library, launch->queue);
    if (result == REX_OK)
        result = find_kernel(library, launch, &position);
    if (result != REX_OK)
        return result;
    const struct kernel kernel = kernel_of(library, position, count);
    if ((result = check_arguments(&kernel, arguments, count)) != REX_OK)
        return result;
    if (kernel.count > USUAL)
        return launch_many(library, launch, &kernel, arguments);
    struct rex_map map = {.count = (int32_t)kernel.count,
                          .base = bases,
                          .begin = begins,
                          .sizes = sizes,
                          .types = types};
    return launch_with(library, launch, &kernel, arguments, &map);
}

int rex_library_launch(struct rex_library *library, const struct rex_launch_config *launch,
                       void *const *arguments, size_t count)
{
    const char *missing = library == NULL                  ? "library"
                          : launch == NULL                 ? "launch"
                          : launch->queue == NULL          ? "launch's queue"
                          : arguments == NULL && count > 0 ? "array of arguments"
                                                           : NULL;
    return missing == NULL ? launch_checked(library, launch, arguments, count)
                           : rex_fail_null("rex_library_launch", missing);
}
