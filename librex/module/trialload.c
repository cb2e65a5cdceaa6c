/*
 * trialload.c - whether libomptarget can load images on a GPU whose memory is short.
 *
 * LLVM 14 to 24 end the process if they cannot load an image, as when several processes share a
 * GPU. So if little memory is free, librex loads the images before, and unloads them again. Another
 * process may still take the memory between the two loads.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/trialload.h"

#include "base/error.h"
#include "base/process.h"
#include "base/settings.h"
#include "cuda/context.h"
#include "module/modules.h"
#include "omp/device.h"

/* The next image of a module for GPUs, from MODULE on; NULL: there is none. */
static struct rex_registration *next(struct rex_module **module)
{
    for (; *module != NULL; *module = (*module)->next) {
        struct rex_registration *registration = rex_registration_of(*module);
        if (registration == NULL || rex_registration_on_host(registration))
            continue;
        *module = (*module)->next;
        return registration;
    }
    return NULL;
}

static size_t size_of(const struct rex_descriptor *descriptor)
{
    const struct __tgt_device_image *image = &descriptor->image;
    return (size_t)((const char *)image->ImageEnd - (const char *)image->ImageStart);
}

static int load(struct rex_descriptor *descriptor, const char *path, int ordinal)
{
    if (REX_CUDA(cuModuleLoadData, &descriptor->trial, descriptor->image.ImageStart) == 0)
        return REX_OK;
    descriptor->trial = NULL;
    return rex_fail(rex_cuda_memory_error(),
                    "device image %s cannot be loaded on GPU %d, which has little memory left: %s",
                    path, ordinal, rex_cuda_why());
}

static void unload(struct rex_descriptor *descriptor)
{
    if (descriptor->trial != NULL)
        REX_CUDA(cuModuleUnload, descriptor->trial);
    descriptor->trial = NULL;
}

/* What a trial loads on GPU ORDINAL. */
struct trial {
    int ordinal;
    struct rex_module *first;    /* modules that are registered, and not loaded yet; NULL: none */
    struct rex_descriptor *more; /* NULL: none */
    const char *path;            /* of its image */
};

static bool is_short(const struct trial *trial)
{
    size_t left = 0, all = 0, needed = REX_LOAD_MEMORY;
    struct rex_registration *registration;
    for (struct rex_module *at = trial->first; (registration = next(&at)) != NULL;)
        needed += size_of(registration->descriptor);
    if (trial->more != NULL)
        needed += size_of(trial->more);
    return rex_driver.cuMemGetInfo(&left, &all) == 0 && left < needed;
}

static int load_all(const struct trial *trial)
{
    struct rex_registration *registration;
    int result = REX_OK;
    for (struct rex_module *at = trial->first;
         result == REX_OK && (registration = next(&at)) != NULL;)
        result = load(registration->descriptor, registration->image_path, trial->ordinal);
    if (result == REX_OK && trial->more != NULL)
        result = load(trial->more, trial->path, trial->ordinal);
    for (struct rex_module *at = trial->first; (registration = next(&at)) != NULL;)
        unload(registration->descriptor);
    if (trial->more != NULL)
        unload(trial->more);
    return result;
}

static int no_context(int ordinal)
{
    int result = rex_cuda_memory_error();
    return rex_fail(result, "the load of an image: GPU %d %s: %s", ordinal,
                    result == REX_ENOMEM ? "is out of memory for a context" : "gives no context",
                    rex_cuda_why());
}

int rex_trial_contexts(void)
{
    int result = REX_OK;
    for (int i = 0; i < rex_cuda_devices() && result == REX_OK; i++) {
        void *context;
        if (rex_context_retain(i, &context) == 0)
            rex_context_drop(i);
        else
            result = no_context(i);
    }
    return result;
}

/* The context exists, unless there is no memory for it or libomptarget is to choose its policy. */
static int run(const struct trial *trial)
{
    void *context;
    if (rex_cuda_need(REX_CUDA_QUEUES) != 0 || rex_driver.cuMemGetInfo == NULL ||
        (!rex_context_is_active(trial->ordinal) &&
         rex_setting_read(REX_OPTION_WAIT) == REX_WAIT_RUNTIME))
        return REX_OK;
    if (rex_context_retain(trial->ordinal, &context) != 0)
        return no_context(trial->ordinal);
    int entered = rex_context_enter(context);
    int result = entered < 0       ? no_context(trial->ordinal)
                 : is_short(trial) ? load_all(trial)
                                   : REX_OK;
    if (result == REX_ENOMEM && rex_blocks_free(&rex_devices[trial->ordinal]))
        result = load_all(trial);
    rex_context_leave(entered);
    rex_context_drop(trial->ordinal);
    return result;
}

/* If libomptarget has all GPUs, it numbers them as the driver does. */
static int find_gpu(int number, int *ordinal)
{
    *ordinal = number;
    return rex_devices_known() == rex_cuda_devices() ? REX_OK
                                                     : rex_device_known_ordinal(number, ordinal);
}

static int try_registered(int number)
{
    struct trial trial = {.first = rex_modules_first()};
    int result = find_gpu(number, &trial.ordinal);
    return result == REX_OK && trial.ordinal >= 0 ? run(&trial) : result;
}

void rex_trial_load_later(void)
{
    rex_loads_expect(try_registered);
}

int rex_trial_load_now(struct rex_descriptor *more, const char *path)
{
    int result = REX_OK;
    rex_load_lock();
    for (int number = 0; result == REX_OK && number < rex_devices_known(); number++) {
        struct trial trial = {.more = more,
                              .path = path,
                              .first = rex_load_is_due(number) ? rex_modules_first() : NULL};
        result = find_gpu(number, &trial.ordinal);
        if (result == REX_OK && trial.ordinal >= 0)
            result = run(&trial);
    }
    rex_load_unlock();
    return result;
}
