/*
 * librarylaunch.c - launches of a library's kernels: arguments by address or in one block become
 * the rows of a map, and the launch one like any other.
 *
 * The functions are those of rex/library.h.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "module/librarymodule.h"
#include "omp/device.h"
#include "rex/library.h"

/* More are allocated. */
#define USUAL 32
/* To what multiple sizeof may round the size of a block up. */
#define BLOCK_ALIGNMENT 16
/* What the host device takes of each argument. */
#define WORD 8u
/* Arguments of a kernel whose image does not tell its parameters. */
#define MOST ((size_t)UINT16_MAX)

/* Where the arguments are: by themselves, or in one block. */
struct given {
    void *const *each;
    const unsigned char *block;
    size_t count, size;
};

/* A kernel, and what its image tells of its parameters, without the runtime's. */
struct kernel {
    const char *name;
    const struct rex_image_parameter *parameter; /* NULL: nothing */
    size_t count;
    bool words; /* each lies in a word of its own */
};

/* ---- how many, and how large ----------------------------------------------------------------- */

static struct kernel kernel_of(const struct rex_library *library, uint32_t position,
                               const struct given *given)
{
    const struct rex_image_view *view = &library->image.view;
    const struct rex_image_symbol *symbol = &view->symbols[library->table.symbol[position]];
    struct kernel kernel = {.name = symbol->name, .words = library->is_registered};
    if (symbol->parameters == REX_PARAMETERS_UNKNOWN) {
        kernel.count = given->block != NULL ? given->size / WORD : given->count;
        kernel.count = kernel.count < MOST ? kernel.count : MOST;
        return kernel;
    }
    kernel.count = (size_t)symbol->parameters - symbol->env;
    if (kernel.count > 0)
        kernel.parameter = view->parameters + symbol->first + symbol->env;
    return kernel;
}

/* Bytes from the first parameter's to those of parameter INDEX. */
static size_t offset_of(const struct kernel *kernel, size_t index)
{
    return kernel->words ? index * WORD
                         : (size_t)kernel->parameter[index].offset - kernel->parameter->offset;
}

/* As many bytes as the argument has: less than the parameter, where its type is a smaller one. */
static size_t size_of(const struct kernel *kernel, size_t index)
{
    const struct rex_image_parameter *parameter =
        kernel->parameter != NULL ? &kernel->parameter[index] : NULL;
    if (parameter != NULL && parameter->width != 0)
        return parameter->width;
    return parameter != NULL && !kernel->words ? parameter->size : WORD;
}

static size_t end_of(const struct kernel *kernel)
{
    size_t end = kernel->words ? kernel->count * WORD : 0;
    for (size_t i = 0; !kernel->words && i < kernel->count; i++) {
        size_t here = offset_of(kernel, i) + kernel->parameter[i].size;
        end = here > end ? here : end;
    }
    return end;
}

static int check_given(const struct kernel *kernel, const struct given *given)
{
    size_t end = given->block != NULL ? end_of(kernel) : 0;
    if (given->block != NULL &&
        (given->size < end ||
         given->size > (end + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT))
        return rex_fail(REX_EPARAMS,
                        "kernel \"%s\" has %zu parameters of %zu bytes together, and the launch a "
                        "block of %zu bytes",
                        kernel->name, kernel->count, end, given->size);
    if (given->block == NULL && given->count != kernel->count)
        return rex_fail(REX_EPARAMS,
                        "kernel \"%s\" has %zu parameters, and the launch %zu arguments",
                        kernel->name, kernel->count, given->count);
    for (size_t i = 0; given->block == NULL && i < given->count; i++)
        if (given->each[i] == NULL)
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
    map->types[row] = REX_TYPE_LITERAL | REX_TYPE_PARAMETER;
}

static int launch_with(struct rex_queue *queue, struct rex_library *library,
                       const struct rex_kernel_launch *launch, const struct kernel *kernel,
                       const struct given *given, struct rex_map *map)
{
    for (size_t i = 0; i < kernel->count; i++)
        fill_row(map, i,
                 given->block != NULL ? given->block + offset_of(kernel, i)
                                      : (const unsigned char *)given->each[i],
                 size_of(kernel, i));
    return rex_module_queue_launch(&library->module, queue, launch, map);
}

static int launch_many(struct rex_queue *queue, struct rex_library *library,
                       const struct rex_kernel_launch *launch, const struct kernel *kernel,
                       const struct given *given)
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
    int result = launch_with(queue, library, launch, kernel, given, &map);
    free(bases);
    return result;
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* A library that libomptarget does not know runs on GPUs alone. */
static int check_queue(const struct rex_library *library, const struct rex_queue *queue)
{
    if (library->is_registered || queue == NULL || !rex_queue_is_immediate(queue))
        return REX_OK;
    if (rex_queue_device(queue) != rex_device_count())
        return rex_fail(REX_EDEVICE,
                        "device image %s is for a GPU, and queue \"%s\" is of device %d",
                        library->image.path, rex_queue_name(queue), rex_queue_device(queue));
    return rex_fail_again(
        REX_EHOST, "nothing was launched: offloading is disabled, or the device is the host");
}

static int find_kernel(const struct rex_library *library, const struct rex_kernel_launch *launch,
                       uint32_t *position)
{
    const struct rex_registration *registration = rex_library_registration(library);
    int64_t found = rex_table_find(&registration->table, launch->key);
    if (found < 0 || library->table.entries[found].size > 0)
        return rex_fail(REX_EKEY, "host key %p is that of no kernel of device image %s",
                        launch->key, library->image.path);
    *position = (uint32_t)found;
    return REX_OK;
}

static int launch_given(struct rex_queue *queue, struct rex_library *library,
                        const struct rex_kernel_launch *launch, const struct given *given)
{
    void *bases[USUAL], *begins[USUAL];
    int64_t sizes[USUAL], types[USUAL];
    uint32_t position = 0;
    int result = check_queue(library, queue);
    if (result == REX_OK)
        result = find_kernel(library, launch, &position);
    if (result != REX_OK)
        return result;
    const struct kernel kernel = kernel_of(library, position, given);
    if ((result = check_given(&kernel, given)) != REX_OK)
        return result;
    if (kernel.count > USUAL)
        return launch_many(queue, library, launch, &kernel, given);
    struct rex_map map = {.count = (int32_t)kernel.count,
                          .base = bases,
                          .begin = begins,
                          .sizes = sizes,
                          .types = types};
    return launch_with(queue, library, launch, &kernel, given, &map);
}

static int check_pointers(const struct rex_queue *queue, const struct rex_library *library,
                          const struct rex_kernel_launch *launch, const char *call)
{
    const char *missing = queue == NULL     ? "queue"
                          : library == NULL ? "library"
                          : launch == NULL  ? "launch"
                                            : NULL;
    return missing == NULL ? REX_OK : rex_fail_null(call, missing);
}

int rex_library_launch(struct rex_queue *queue, struct rex_library *library,
                       const struct rex_kernel_launch *launch, void *const *arguments, size_t count)
{
    const struct given given = {.each = arguments, .count = count};
    int result = check_pointers(queue, library, launch, "rex_library_launch");
    if (result == REX_OK && arguments == NULL && count > 0)
        result = rex_fail_null("rex_library_launch", "array of arguments");
    return result == REX_OK ? launch_given(queue, library, launch, &given) : result;
}

int rex_library_launch_packed(struct rex_queue *queue, struct rex_library *library,
                              const struct rex_kernel_launch *launch, const void *block,
                              size_t size)
{
    const struct given given = {.block = block, .size = size};
    int result = check_pointers(queue, library, launch, "rex_library_launch_packed");
    if (result == REX_OK && block == NULL)
        result = rex_fail_null("rex_library_launch_packed", "block");
    return result == REX_OK ? launch_given(queue, library, launch, &given) : result;
}
