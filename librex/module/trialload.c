/*
 * trialload.c - whether libomptarget can load images: on a GPU whose memory is short, and on the
 * host device, which opens them as files.
 *
 * LLVM 14 to 24 end the process if they cannot load an image, as when several processes share a
 * GPU. So if little memory is free, librex loads the images before, and unloads them again. Another
 * process may still take the memory between the two loads.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/trialload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/settings.h"
#include "calls/calls.h"
#include "cuda/context.h"
#include "module/registry.h"
#include "omp/device.h"
#include "omp/runtime.h"

/* The next registration with an image for GPUs, or the host, from MODULE on; NULL: none is left. */
static struct rex_registration *next_registration(bool on_host, struct rex_module **module)
{
    while (*module != NULL) {
        struct rex_registration *registration = rex_registration_of(*module);
        *module = (*module)->next;
        if (registration != NULL && rex_registration_on_host(registration) == on_host)
            return registration;
    }
    return NULL;
}

static size_t size_of_trial(const struct rex_descriptor *descriptor)
{
    const struct __tgt_device_image *image = &descriptor->image;
    return (size_t)((const char *)image->ImageEnd - (const char *)image->ImageStart);
}

static int try_image(struct rex_descriptor *descriptor, const char *path, int ordinal)
{
    if (REX_CUDA(cuModuleLoadData, &descriptor->trial, descriptor->image.ImageStart) == 0)
        return REX_OK;
    descriptor->trial = NULL;
    return rex_fail(rex_cuda_memory_error(),
                    "device image %s cannot be loaded on GPU %d, which has little memory left: %s",
                    path, ordinal, rex_cuda_why());
}

static void drop_trial(struct rex_descriptor *descriptor)
{
    if (descriptor->trial != NULL)
        REX_CUDA(cuModuleUnload, descriptor->trial);
    descriptor->trial = NULL;
}

/* A trial loads these images on GPU ORDINAL. */
struct trial {
    int ordinal;
    struct rex_module *first;    /* modules that are registered, and not loaded yet; NULL: none */
    struct rex_descriptor *more; /* NULL: none */
    const char *path;            /* of its image */
};

static int try_all_images(const struct trial *trial)
{
    struct rex_registration *registration;
    int result = REX_OK;
    for (struct rex_module *at = trial->first;
         result == REX_OK && (registration = next_registration(false, &at)) != NULL;)
        result = try_image(registration->descriptor, registration->image_path, trial->ordinal);
    if (result == REX_OK && trial->more != NULL)
        result = try_image(trial->more, trial->path, trial->ordinal);
    for (struct rex_module *at = trial->first;
         (registration = next_registration(false, &at)) != NULL;)
        drop_trial(registration->descriptor);
    if (trial->more != NULL)
        drop_trial(trial->more);
    return result;
}

static int fail_no_context(int ordinal)
{
    int result = rex_cuda_memory_error();
    return rex_fail(result, "the load of an image: GPU %d %s: %s", ordinal,
                    result == REX_ENOMEM ? "is out of memory for a context" : "gives no context",
                    rex_cuda_why());
}

int rex_trial_contexts(void)
{
    for (int i = 0; i < rex_cuda_devices(); i++) {
        void *context;
        if (rex_context_retain(i, &context) != 0)
            return fail_no_context(i);
        rex_context_drop(i);
    }
    return REX_OK;
}

/* The context exists, unless there is no memory for it or libomptarget is to choose its policy. */
static int try_on_gpu(const struct trial *trial)
{
    void *context;
    if (rex_cuda_need(REX_CUDA_QUEUES) != 0 || rex_driver.cuMemGetInfo == NULL ||
        (rex_context_is_active(trial->ordinal, NULL) <= 0 &&
         rex_setting_read(REX_OPTION_WAIT) == REX_WAIT_RUNTIME))
        return REX_OK;
    if (rex_context_retain(trial->ordinal, &context) != 0)
        return fail_no_context(trial->ordinal);
    int result = REX_OK, entered = rex_context_enter(context);
    if (entered < 0) {
        result = fail_no_context(trial->ordinal);
        goto drop;
    }
    size_t left = 0, all = 0, needed = REX_LOAD_MEMORY;
    struct rex_registration *registration;
    for (struct rex_module *at = trial->first;
         (registration = next_registration(false, &at)) != NULL;)
        needed += size_of_trial(registration->descriptor);
    if (trial->more != NULL)
        needed += size_of_trial(trial->more);
    if (rex_driver.cuMemGetInfo(&left, &all) == 0 && left < needed)
        result = try_all_images(trial);
    if (result == REX_ENOMEM && rex_blocks_free(&rex_devices[trial->ordinal]))
        result = try_all_images(trial);
drop:
    rex_context_leave(entered);
    rex_context_drop(trial->ordinal);
    return result;
}

/* If libomptarget has all GPUs, it numbers them as the driver does. */
static int ordinal_of_device(int number, int *ordinal)
{
    *ordinal = number;
    if (rex_devices_known() == rex_cuda_devices())
        return REX_OK;
    return rex_device_known_ordinal(number, ordinal);
}

static int try_registered(int number)
{
    struct trial trial = {.first = rex_modules_first()};
    int result = ordinal_of_device(number, &trial.ordinal);
    if (result != REX_OK || trial.ordinal < 0)
        return result;
    return try_on_gpu(&trial);
}

/* ---- the host device ------------------------------------------------------------------------- */

/*
 * libomptarget writes each image to a file, opens that and leaves it there. It ends the process if
 * it cannot, or lets the loader read what was not written. So librex writes the same bytes before,
 * and unlinks libomptarget's files, whose names the loader knows.
 */

/* Where the release makes its files: LLVM 23 and 24 go by these variables. */
static const char *folder_of_images(void)
{
    static const char *const variables[] = {"TMPDIR", "TMP", "TEMP", "TEMPDIR"};
    const char *folder = NULL;
    for (size_t i = 0; rex_runtime()->obeys_tmpdir && i < 4 && folder == NULL; i++)
        folder = getenv(variables[i]);
    return folder != NULL ? folder : "/tmp";
}

/* Write MORE, or where it is NULL what device NUMBER has not loaded: 0, or an error's number. */
static int write_images(int file, int number, const struct rex_descriptor *more)
{
    struct rex_registration *registration;
    size_t done;
    int error =
        more != NULL ? rex_file_write(file, more->image.ImageStart, size_of_trial(more), &done) : 0;
    for (struct rex_module *at = more != NULL ? NULL : rex_modules_first();
         error == 0 && (registration = next_registration(true, &at)) != NULL;) {
        const struct rex_descriptor *one = registration->descriptor;
        if (!(one->loaded >> number & 1))
            error = rex_file_write(file, one->image.ImageStart, size_of_trial(one), &done);
    }
    return error;
}

static __attribute__((noinline)) int try_image_folder(int number, const struct rex_descriptor *more)
{
    const char *folder = folder_of_images(), *failed = "made";
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/rex-image.XXXXXX", folder);
    int file = mkostemp(path, O_CLOEXEC), error = errno;
    if (file < 0)
        goto fail;
    failed = "written";
    error = write_images(file, number, more);
    if (error != 0)
        goto close;
    failed = "run";
    void *mapped = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED)
        error = errno;
    else
        munmap(mapped, 1);
close:
    unlink(path);
    close(file);
    if (error == 0)
        return REX_OK;
fail:
    return rex_fail(error == ENOMEM ? REX_ENOMEM : REX_ERUNTIME,
                    "LLVM %d's libomptarget opens host images as files in %s, where "
                    "none can be %s: %s",
                    rex_runtime_release(), folder, failed, strerror(error));
}

struct loaded {
    const char *folder;
    size_t before, count; /* objects of the process: those that were there, and those seen */
};

static int count_object(struct dl_phdr_info *object, size_t size, void *count)
{
    (void)object, (void)size;
    ++*(size_t *)count;
    return 0;
}

static int unlink_image(struct dl_phdr_info *object, size_t size, void *context)
{
    struct loaded *loaded = context;
    const char *name = strrchr(object->dlpi_name, '/');
    (void)size;
    if (loaded->count++ >= loaded->before && name != NULL &&
        rex_name_after(object->dlpi_name, loaded->folder) != NULL &&
        rex_name_after(name, "/tmpfile") != NULL)
        unlink(object->dlpi_name);
    return 0;
}

/* libomptarget loads the images here, so that their files are the newest objects. */
static int load_host_images(int number)
{
    struct loaded loaded = {.folder = folder_of_images()};
    struct rex_registration *registration;
    if (rex_runtime_disabled())
        return REX_OK;
    int result = try_image_folder(number, NULL);
    if (result != REX_OK)
        return result;
    dl_iterate_phdr(count_object, &loaded.before);
    result = rex_call_data(REX_DATA_BEGIN, NULL, number, &(struct rex_map){0});
    dl_iterate_phdr(unlink_image, &loaded);
    for (struct rex_module *at = rex_modules_first();
         (registration = next_registration(true, &at)) != NULL;)
        registration->descriptor->loaded |= UINT64_C(1) << number;
    return result;
}

/* ---- either ---------------------------------------------------------------------------------- */

void rex_trial_load_later(bool on_host)
{
    rex_loads_expect(on_host ? load_host_images : try_registered);
}

int rex_trial_load_now(struct rex_descriptor *more, const char *path, bool on_host)
{
    int result = REX_OK;
    if (on_host) {
        result = try_image_folder(0, more);
        more->loaded = result == REX_OK ? UINT64_MAX : 0;
        return result;
    }
    rex_load_lock();
    for (int number = 0; result == REX_OK && number < rex_devices_known(); number++) {
        struct trial trial = {.more = more, .path = path};
        if (rex_load_is_due(number))
            trial.first = rex_modules_first();
        result = ordinal_of_device(number, &trial.ordinal);
        if (result == REX_OK && trial.ordinal >= 0)
            result = try_on_gpu(&trial);
    }
    rex_load_unlock();
    return result;
}
