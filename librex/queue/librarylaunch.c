/*
 * librarylaunch.c - launches a library's kernels in queues.
 *
 * Implements rex_library_launch() of rex/library.h. The program passes the address of each
 * argument. The values become rows of a map, and rex_module_launch_map() launches with this map.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "module/librarymodule.h"
#include "module/table.h"
#include "omp/device.h"
#include "queue/queue.h"
#include "rex/library.h"

/* Maximum number of arguments that need no allocation. */
#define USUAL_ARGUMENTS 32
/* Size in bytes of an argument if the image does not list the parameters. */
#define WORD 8u
/* Maximum number of arguments of a kernel whose image does not list its parameters. */
#define MOST_ARGUMENTS ((size_t)UINT16_MAX)

/* Launches KERNEL with a map that passes the COUNT ARGUMENTS. Returns 0 or an error. */
static int launch_with_arguments(struct rex_library *library,
                                 const struct rex_launch_config *launch,
                                 const struct rex_image_symbol *kernel, void *const *arguments,
                                 size_t count)
{
    void *usual[2 * USUAL_ARGUMENTS], **pointers = usual;
    int64_t usual_numbers[2 * USUAL_ARGUMENTS], *numbers = usual_numbers;
    size_t size = 2 * count * (sizeof *pointers + sizeof *numbers);
    if (count > USUAL_ARGUMENTS) {
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
    for (size_t i = 0; i < count; i++) {
        void *value = (void *)(uintptr_t)arguments[i];
        size_t bytes = WORD;
        if (kernel->parameters != REX_PARAMETERS_UNKNOWN) {
            const struct rex_image_parameter *parameter = &kernel->parameter[kernel->env + i];
            /* `width` is the size of the C type; the parameter may be larger. */
            bytes = parameter->width != 0 ? parameter->width : parameter->size;
        }
        if (bytes <= sizeof value) {
            value = NULL;
            memcpy(&value, arguments[i], bytes);
        }
        map.base[i] = map.begin[i] = value;
        map.sizes[i] = (int64_t)bytes;
        map.types[i] = REX_MAP_LITERAL | REX_MAP_TARGET_PARAM;
    }
    int result = rex_module_launch_map(&library->module, launch, &map);
    if (pointers != usual)
        free(pointers);
    return result;
}

int rex_library_launch(struct rex_library *library, const struct rex_launch_config *launch,
                       void *const *arguments, size_t count)
{
    int result = rex_pooled_check(library, "rex_library_launch", "library");
    if (result != REX_OK)
        return result;
    if (launch == NULL)
        return rex_fail_null("rex_library_launch", "launch");
    if (launch->queue == NULL)
        return rex_fail_null("rex_library_launch", "launch's queue");
    if (arguments == NULL && count > 0)
        return rex_fail_null("rex_library_launch", "array of arguments");
    const struct rex_queue *queue = launch->queue;
    /* Kernels of a library that is not registered with libomptarget run only on GPUs. */
    if (!library->is_registered && queue->immediate && queue->gpu.number != rex_device_count())
        return rex_fail(
            REX_EDEVICE,
            "device image %s is for a GPU, but queue \"%s\" is of device %d, which is not an "
            "NVIDIA GPU",
            library->image.path, queue->name, queue->gpu.number);
    const struct rex_registration *registration = rex_library_registration(library);
    const struct rex_kernel *found = rex_table_find(&registration->table, launch->key);
    if (found == NULL || found->entry->size > 0)
        return rex_fail(REX_EKEY, "host key %p does not belong to a kernel of device image %s",
                        launch->key, library->image.path);
    const struct rex_image_symbol *kernel =
        &rex_library_view(library)->symbols[library->symbol[found - registration->table.kernels]];
    size_t wanted = count < MOST_ARGUMENTS ? count : MOST_ARGUMENTS;
    bool is_known = kernel->parameters != REX_PARAMETERS_UNKNOWN;
    if (is_known)
        wanted = (size_t)kernel->parameters - kernel->env;
    if (count != wanted)
        return rex_fail(REX_EPARAMS, "kernel \"%.*s\": the number of arguments is %zu, and %s %zu",
                        REX_KERNEL_NAME(kernel->name), count,
                        is_known ? "must be" : "can be at most", wanted);
    for (size_t i = 0; i < count; i++)
        if (arguments[i] == NULL)
            return rex_fail(REX_EINVAL, "kernel \"%.*s\": the address of argument %zu is NULL",
                            REX_KERNEL_NAME(kernel->name), i);
    return launch_with_arguments(library, launch, kernel, arguments, count);
}
