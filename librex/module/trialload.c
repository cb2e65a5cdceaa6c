/*
 * trialload.c - tests whether libomptarget can load images: on a GPU with little free memory, and
 * on the host device, which opens images as files.
 *
 * LLVM 14 to 24 end the process if they cannot load an image. For example, a load fails if several
 * processes share a GPU and the GPU's memory runs out. So if little memory is free, librex first
 * loads the images itself, and unloads them again. Another process may still take the memory
 * between librex's load and libomptarget's load.
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

#include "base/assert.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/settings.h"
#include "calls/calls.h"
#include "cuda/context.h"
#include "module/registry.h"
#include "omp/device.h"
#include "omp/runtime.h"

/*
 * Returns the next registration, from *MODULE on, with an image for the CPU (ON_HOST is true) or
 * for GPUs (ON_HOST is false). Moves *MODULE past this registration. Returns NULL if there is no
 * such registration.
 */
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

/*
 * The images of a trial. A trial loads images on one GPU, to test whether libomptarget can load the
 * images on this GPU.
 */
struct trial {
    /* first module that may have a registered image that is not loaded yet, or NULL */
    struct rex_module *first;
    struct rex_descriptor *more; /* a descriptor that is not registered yet, or NULL */
    const char *path;            /* path of the image of `more` */
};

/*
 * LEFT is a copy of a trial. Removes the next image from LEFT, and returns the image's descriptor.
 * Returns NULL if no image is left. *PATH becomes the name of the image in messages.
 */
static struct rex_descriptor *next_in_trial(struct trial *left, const char **path)
{
    struct rex_registration *registration = next_registration(false, &left->first);
    struct rex_descriptor *more = left->more;
    if (registration != NULL) {
        *path = registration->image_path;
        return registration->descriptor;
    }
    *path = left->path;
    left->more = NULL;
    return more;
}

static int try_all_images(const struct trial *trial, int ordinal)
{
    struct trial left = *trial;
    struct rex_descriptor *image;
    const char *path;
    int result = REX_OK;
    while (result == REX_OK && (image = next_in_trial(&left, &path)) != NULL) {
        REX_ASSERT(image->trial == NULL);
        if (REX_CUDA(cuModuleLoadData, &image->trial, image->image.ImageStart) == 0)
            continue;
        image->trial = NULL;
        result = rex_fail(rex_cuda_memory_error(),
                          "device image %s cannot be loaded on GPU %d, which has little memory "
                          "left: %s",
                          path, ordinal, rex_cuda_why());
    }
    left = *trial;
    while ((image = next_in_trial(&left, &path)) != NULL) {
        if (image->trial != NULL)
            REX_CUDA(cuModuleUnload, image->trial);
        image->trial = NULL;
    }
    return result;
}

/* Reports that the GPU has no context in which the first image of TRIAL could be loaded. */
static int fail_no_context(const struct trial *trial, int ordinal)
{
    int result = rex_cuda_memory_error();
    struct trial left = *trial;
    const char *path;
    next_in_trial(&left, &path);
    return rex_fail(result, "%s%s cannot be loaded: GPU %d %s: %s",
                    path != NULL ? "device image " : "an image", path != NULL ? path : "", ordinal,
                    result == REX_ENOMEM ? "has too little memory for a context"
                                         : "has no usable context",
                    rex_cuda_why());
}

int rex_trial_contexts(const char *path)
{
    const struct trial trial = {.path = path};
    for (int i = 0; i < rex_cuda_devices(); i++) {
        void *context;
        if (rex_context_retain(i, &context) != 0)
            return fail_no_context(&trial, i);
        rex_context_drop(i);
    }
    return REX_OK;
}

/*
 * If device NUMBER has little free memory, loads the images on its GPU as a test. Does nothing if
 * the GPU has no active context and REX_WAIT is `runtime`, because libomptarget then makes the
 * context. If libomptarget has as many devices as the driver has GPUs, device NUMBER is GPU NUMBER.
 * Returns 0 or an error.
 */
static int try_on_device(const struct trial *trial, int number)
{
    int ordinal = number, result = REX_OK;
    if (rex_devices_known() != rex_cuda_devices())
        result = rex_device_known_ordinal(number, &ordinal);
    if (result != REX_OK || ordinal < 0)
        return result;
    void *context;
    if (rex_cuda_need(REX_CUDA_QUEUES) != 0 || rex_driver.cuMemGetInfo == NULL ||
        (rex_context_is_active(ordinal, NULL) <= 0 &&
         rex_setting_read(REX_OPTION_WAIT) == REX_WAIT_RUNTIME))
        return REX_OK;
    if (rex_context_retain(ordinal, &context) != 0)
        return fail_no_context(trial, ordinal);
    int entered = rex_context_enter(context);
    if (entered < 0) {
        result = fail_no_context(trial, ordinal);
        goto drop;
    }
    size_t memory = 0, all = 0, needed = REX_LOAD_MEMORY;
    struct trial left = *trial;
    const struct rex_descriptor *image;
    const char *path;
    while ((image = next_in_trial(&left, &path)) != NULL)
        needed += rex_descriptor_bytes(image);
    if (rex_driver.cuMemGetInfo(&memory, &all) == 0 && memory < needed)
        result = try_all_images(trial, ordinal);
    if (result == REX_ENOMEM && rex_blocks_free(&rex_devices[ordinal]))
        result = try_all_images(trial, ordinal);
drop:
    rex_context_leave(entered);
    rex_context_drop(ordinal);
    return result;
}

static int try_registered(int number)
{
    struct trial trial = {.first = rex_modules_first()};
    return try_on_device(&trial, number);
}

/* ---- the host device ------------------------------------------------------------------------- */

/*
 * libomptarget writes each image to a file in the folder of folder_of_images(), opens the file and
 * does not remove it. If libomptarget cannot write all bytes, it ends the process, or lets the
 * loader read a truncated file. So librex first writes the same bytes to a file of its own in the
 * folder, and returns an error if that fails. After the load librex unlinks libomptarget's files.
 * The loader's list of objects has their names.
 */

/*
 * Returns the folder to which the bound libomptarget writes the files of images. LLVM 23 and 24
 * obey the environment variables below.
 */
static const char *folder_of_images(void)
{
    static const char *const variables[] = {"TMPDIR", "TMP", "TEMP", "TEMPDIR"};
    const char *folder = NULL;
    for (size_t i = 0; rex_runtime()->obeys_tmpdir && i < 4 && folder == NULL; i++)
        folder = getenv(variables[i]);
    return folder != NULL ? folder : "/tmp";
}

/*
 * Writes the image of MORE to a file in the folder, as a test. If MORE is NULL, writes the images
 * that device NUMBER has not loaded. Returns 0 or an error.
 */
static __attribute__((noinline)) int try_image_folder(int number, const struct rex_descriptor *more)
{
    const char *folder = folder_of_images(), *failed = "made";
    struct rex_module *at = more != NULL ? NULL : rex_modules_first();
    struct rex_registration *registration;
    char path[PATH_MAX];
    size_t done;
    snprintf(path, sizeof path, "%.4000s/rex-image.XXXXXX", folder);
    int file = mkostemp(path, O_CLOEXEC), error = errno;
    if (file < 0)
        goto fail;
    failed = "written";
    error = 0;
    if (more != NULL)
        error = rex_file_write(file, more->image.ImageStart, rex_descriptor_bytes(more), &done);
    while (error == 0 && (registration = next_registration(true, &at)) != NULL) {
        const struct rex_descriptor *one = registration->descriptor;
        if (!(one->loaded >> number & 1))
            error = rex_file_write(file, one->image.ImageStart, rex_descriptor_bytes(one), &done);
    }
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
                    "no file can be %s: %s",
                    rex_runtime_release(), folder, failed, strerror(error));
}

struct loaded {
    const char *folder;
    /*
     * `before`: number of objects in the loader's list before the load. `count`: number of objects
     * visited so far.
     */
    size_t before, count;
};

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

/*
 * Makes libomptarget load the images now. The files of the images are then the last in the loader's
 * list of objects. Returns 0 or an error.
 */
static int load_host_images(int number)
{
    struct loaded loaded = {.folder = folder_of_images(), .before = SIZE_MAX};
    struct rex_registration *registration;
    if (rex_runtime_disabled())
        return REX_OK;
    int result = try_image_folder(number, NULL);
    if (result != REX_OK)
        return result;
    dl_iterate_phdr(unlink_image, &loaded);
    loaded.before = loaded.count;
    loaded.count = 0;
    result = rex_call_data(REX_DATA_BEGIN, NULL, number, &(struct rex_map){0});
    dl_iterate_phdr(unlink_image, &loaded);
    for (struct rex_module *at = rex_modules_first();
         (registration = next_registration(true, &at)) != NULL;)
        registration->descriptor->loaded |= UINT64_C(1) << number;
    return result;
}

/* ---- the host device or a GPU ---------------------------------------------------------------- */

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
        result = try_on_device(&trial, number);
    }
    rex_load_unlock();
    return result;
}
