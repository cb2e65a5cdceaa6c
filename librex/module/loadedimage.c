/*
 * loadedimage.c - loads a module's image once more, for launches by the driver. librex loads the
 * bytes that libomptarget was given, in the primary context that libomptarget also uses.
 *
 * libomptarget does not expose the CUDA module and functions that it has loaded, so the driver
 * launches from a second copy. Code and parameters are equal; device globals exist twice. A
 * library's image has only this copy, because libomptarget does not know the image.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/loadedimage.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "cuda/launchcontext.h"
#include "image/cubin.h"
#include "module/parts.h"
#include "module/registration.h"
#include "omp/grid.h"

#define ATTRIBUTE_DYNAMIC_MEMORY 8 /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */

/* ---- unloading ------------------------------------------------------------------------------- */

void rex_loaded_image_hold(struct rex_loaded_image *image)
{
    rex_load_lock();
    image->holders++;
    rex_load_unlock();
}

void rex_loaded_image_drop(struct rex_loaded_image *image)
{
    rex_load_lock();
    REX_ASSERT(image->holders > 0);
    bool last = --image->holders == 0;
    rex_load_unlock();
    if (!last)
        return;
    /* If rex_context_enter() fails, the calls below may still work. */
    int entered = rex_context_enter(image->context);
    /* A graph that the program has destroyed may still run. */
    rex_cuda_note(rex_driver.cuCtxSynchronize(), "cuCtxSynchronize");
    REX_CUDA(cuModuleUnload, image->module);
    rex_context_leave(entered);
    rex_context_drop(image->ordinal);
    free(image);
}

/*
 * Unloads the images of all GPUs. Called when the registration ends, at a time when no launch runs.
 */
static void unload_everywhere(struct rex_registration *registration)
{
    for (int i = 0; i < REX_CUDA_DEVICES_MAX; i++) {
        struct rex_loaded_image *image =
            __atomic_exchange_n(&registration->loaded_image[i], NULL, __ATOMIC_ACQ_REL);
        if (image == NULL)
            continue;
        /* kernels of libraries are launched only in queues, which use no launch contexts */
        if (registration->library == NULL) {
            int entered = rex_context_enter(image->context);
            rex_launch_contexts_end(image->ordinal);
            rex_blocks_free(&rex_devices[image->ordinal]);
            rex_context_leave(entered);
        }
        rex_loaded_image_drop(image);
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Returns the driver's function, or NULL on failure; rex_cuda_why() gives the reason. */
static void *load_kernel_function(const struct rex_loaded_kernel *kernel)
{
    void *function;
    if (REX_CUDA(cuModuleGetFunction, &function, kernel->image->module, kernel->name) != 0 ||
        (rex_driver.cuFuncLoad != NULL && REX_CUDA(cuFuncLoad, function) != 0))
        return NULL;
    return function;
}

/* ---- loading --------------------------------------------------------------------------------- */

/*
 * Loads the image with all its kernels. If only the image were loaded, drivers from CUDA 12.2 on
 * would load each kernel at its first launch, and might first wait until the device is idle. If a
 * kernel of another queue waited for the new launch, the load would never end. If a kernel fails to
 * load now, a launch of the kernel loads it again and reports the error.
 */
static struct rex_loaded_image *new_loaded_image(struct rex_registration *registration, int ordinal,
                                                 void *context)
{
    const struct rex_table *table = &registration->table;
    const char *path = registration->image_path;
    size_t size = sizeof(struct rex_loaded_image) + table->count * sizeof(struct rex_loaded_kernel);
    struct rex_loaded_image *image = calloc(1, size);
    if (image == NULL) {
        rex_fail_memory(size, "a module's kernels");
        return NULL;
    }
    image->registration = registration;
    image->ordinal = ordinal;
    image->context = context;
    image->holders = 1;
    if (rex_context_retain(ordinal, &context) != 0) {
        rex_fail(rex_cuda_memory_error(), "GPU %d has no context for librex's own launches: %s",
                 ordinal, rex_cuda_why());
        free(image);
        return NULL;
    }
    if (REX_CUDA(cuModuleLoadData, &image->module, registration->descriptor->image.ImageStart) !=
        0) {
        rex_context_drop(ordinal);
        rex_fail(rex_cuda_memory_error(),
                 "device image %s cannot be loaded on GPU %d, for librex's own launches: %s", path,
                 ordinal, rex_cuda_why());
        free(image);
        return NULL;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        struct rex_loaded_kernel *kernel = &image->kernel[i];
        bool is_global = table->entries[i].size > 0;
        *kernel = (struct rex_loaded_kernel){
            .image = image, .facts = &table->kernels[i], .name = table->entries[i].name};
        image->has_globals |= is_global;
        if (!is_global)
            kernel->function = load_kernel_function(kernel);
    }
    rex_log(REX_LOG_INFO, "loaded device image %s on GPU %d%s, for librex's own launches", path,
            ordinal, registration->library == NULL ? " a second time" : "");
    return image;
}

static struct rex_loaded_image *find_or_load_image(struct rex_registration *registration,
                                                   int ordinal, void *context)
{
    rex_load_lock();
    struct rex_loaded_image *image = registration->loaded_image[ordinal];
    if (image == NULL && (image = new_loaded_image(registration, ordinal, context)) != NULL) {
        registration->unload = unload_everywhere;
        __atomic_store_n(&registration->loaded_image[ordinal], image, __ATOMIC_RELEASE);
    }
    rex_load_unlock();
    return image;
}

int rex_loaded_image_prepare(struct rex_registration *registration, int ordinal, void *context)
{
    for (; registration != NULL; registration = rex_parts_next(registration)) {
        if (rex_registration_on_host(registration))
            return REX_OK;
        const struct rex_descriptor *given = registration->descriptor;
        unsigned sm = rex_cubin_architecture(given->image.ImageStart, rex_descriptor_bytes(given));
        if (rex_image_suits(sm, rex_cuda_architecture(ordinal)) &&
            find_or_load_image(registration, ordinal, context) == NULL)
            return rex_last_error_code();
    }
    return REX_OK;
}

/*
 * Sets the kernel's maximum of dynamic shared memory to BYTES if the maximum is lower. The driver
 * uses the value that was set last, so a lower value must not be set.
 */
static int allow_dynamic_memory(struct rex_loaded_kernel *kernel, uint32_t bytes)
{
    int result = REX_OK;
    rex_load_lock();
    if (bytes > kernel->dynamic_memory) {
        int set = bytes > INT32_MAX /* the driver takes an int */
                      ? rex_cuda_note(REX_CUDA_INVALID_VALUE, "cuFuncSetAttribute")
                      : REX_CUDA(cuFuncSetAttribute, kernel->function, ATTRIBUTE_DYNAMIC_MEMORY,
                                 (int)bytes);
        if (set == 0)
            __atomic_store_n(&kernel->dynamic_memory, bytes, __ATOMIC_RELEASE);
        else
            result = rex_fail(REX_EINVAL,
                              "kernel \"%.*s\" cannot have %u bytes of dynamic shared memory: %s",
                              REX_KERNEL_NAME(kernel->name), bytes, rex_cuda_why());
    }
    rex_load_unlock();
    return result;
}

struct rex_loaded_kernel *rex_loaded_kernel(const struct rex_target *target, int ordinal,
                                            void *context, uint32_t dynamic_memory)
{
    struct rex_registration *registration = target->registration;
    struct rex_loaded_image *image =
        __atomic_load_n(&registration->loaded_image[ordinal], __ATOMIC_ACQUIRE);
    if (image == NULL && (image = find_or_load_image(registration, ordinal, context)) == NULL)
        return NULL;
    struct rex_loaded_kernel *kernel = &image->kernel[target->kernel - registration->table.kernels];
    if (target->kernel->layout == NULL) {
        rex_fail(REX_ENOKERNEL,
                 "device image %s does not describe the parameters of kernel \"%.*s\"",
                 registration->image_path, REX_KERNEL_NAME(target->name));
        return NULL;
    }
    if (__atomic_load_n(&kernel->function, __ATOMIC_ACQUIRE) == NULL) {
        void *function = load_kernel_function(kernel);
        if (function == NULL) {
            rex_fail(REX_ECUDA, "kernel \"%.*s\": %s", REX_KERNEL_NAME(kernel->name),
                     rex_cuda_why());
            return NULL;
        }
        __atomic_store_n(&kernel->function, function, __ATOMIC_RELEASE);
    }
    if (dynamic_memory + (uint64_t)target->kernel->shared_memory > REX_SHARED_MEMORY &&
        dynamic_memory > __atomic_load_n(&kernel->dynamic_memory, __ATOMIC_ACQUIRE) &&
        allow_dynamic_memory(kernel, dynamic_memory) != REX_OK)
        return NULL;
    return kernel;
}

void *rex_loaded_global_address(struct rex_registration *registration, const char *name,
                                int ordinal, void *context)
{
    struct rex_loaded_image *image = find_or_load_image(registration, ordinal, context);
    uint64_t address;
    size_t size;
    if (image == NULL)
        return NULL;
    if (REX_CUDA(cuModuleGetGlobal, &address, &size, image->module, name) == 0)
        return (void *)(uintptr_t)address;
    rex_fail(REX_ECUDA, "global \"%s\": %s", name, rex_cuda_why());
    return NULL;
}
