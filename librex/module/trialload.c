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
#include "module/modules.h"
#include "omp/device.h"
#include "omp/runtime.h"

/* The next image of a module for GPUs, or the host, from MODULE on; NULL: there is none. */
static struct rex_registration *next_of(bool on_host, struct rex_module **module)
{
    for (; *module != NULL; *module = (*module)->next) {
        struct rex_registration *registration = rex_registration_of(*module);
        if (registration == NULL || rex_registration_on_host(registration) != on_host)
            continue;
        *module = (*module)->next;
        return registration;
    }
    return NULL;
}

static struct rex_registration *next(struct rex_module **module)
{
    return next_of(false, module);
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
        more != NULL ? rex_file_write(file, more->image.ImageStart, size_of(more), &done) : 0;
    for (struct rex_module *at = more != NULL ? NULL : rex_modules_first();
         error == 0 && (registration = next_of(true, &at)) != NULL;) {
        const struct rex_descriptor *one = registration->descriptor;
        if (!(one->loaded >> number & 1))
            error = rex_file_write(file, one->image.ImageStart, size_of(one), &done);
    }
    return error;
}

static __attribute__((noinline)) int try_folder(int number, const struct rex_descriptor *more)
{
    const char *folder = folder_of_images(), *failed = "made";
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/rex-image.XXXXXX", folder);
    int file = mkostemp(path, O_CLOEXEC), error = file < 0 ? errno : 0;
    if (file >= 0) {
        failed = "written";
        error = write_images(file, number, more);
        void *mapped =
            error == 0 ? mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) : NULL;
        if (mapped == MAP_FAILED) {
            failed = "run";
            error = errno;
        } else if (mapped != NULL) {
            munmap(mapped, 1);
        }
        unlink(path);
        close(file);
    }
    return error == 0 ? REX_OK
                      : rex_fail(error == ENOMEM ? REX_ENOMEM : REX_ERUNTIME,
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
static int load_on_host(int number)
{
    struct loaded loaded = {.folder = folder_of_images()};
    struct rex_registration *registration;
    int result = rex_runtime_disabled() ? REX_OK : try_folder(number, NULL);
    if (result != REX_OK || rex_runtime_disabled())
        return result;
    dl_iterate_phdr(count_object, &loaded.before);
    result = rex_call_data(REX_DATA_BEGIN, NULL, number, &(struct rex_map){0});
    dl_iterate_phdr(unlink_image, &loaded);
    for (struct rex_module *at = rex_modules_first(); (registration = next_of(true, &at)) != NULL;)
        registration->descriptor->loaded |= UINT64_C(1) << number;
    return result;
}

/* ---- either ---------------------------------------------------------------------------------- */

void rex_trial_load_later(bool on_host)
{
    rex_loads_expect(on_host ? load_on_host : try_registered);
}

int rex_trial_load_now(struct rex_descriptor *more, const char *path, bool on_host)
{
    int result = on_host ? try_folder(0, more) : REX_OK;
    if (on_host) {
        more->loaded = result == REX_OK ? UINT64_MAX : 0;
        return result;
    }
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
