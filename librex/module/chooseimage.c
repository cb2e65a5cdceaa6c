/*
 * chooseimage.c - chooses which one image of a module is registered. Lists the images in the
 * module's files and memory, takes the image that suits the device, and adapts it to the bound
 * libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/chooseimage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "cuda/launchcontext.h"
#include "image/cubin.h"
#include "image/list.h"
#include "module/fitimage.h"
#include "module/hostneeds.h"
#include "module/registry.h"
#include "omp/runtime.h"

/* ---- how well an image suits ----------------------------------------------------------------- */

#define EXACT 1000000u
#define SAME_MAJOR 500000u

/*
 * Returns the rank of an image for a GPU of architecture SM; 0 if the GPU cannot run the image.
 * Code for one GPU only (suffix a) or one family only (suffix f) ranks higher than code without a
 * suffix. Code with a suffix can use more instructions.
 */
static unsigned rank_image(const struct rex_image_item *item, unsigned sm)
{
    unsigned special = item->suffix == 'a' ? 2 : item->suffix == 'f' ? 1 : 0;
    unsigned number = item->architecture < EXACT / 100 ? item->architecture * 10 + special : 0;
    bool suits =
        item->suffix == 'a' ? item->architecture == sm : rex_image_suits(item->architecture, sm);
    if (item->kind == REX_IMAGE_CUBIN)
        return !suits ? 0 : item->architecture == sm ? EXACT + number : SAME_MAJOR + number;
    if (item->kind == REX_IMAGE_PTX)
        return suits || (item->suffix == '\0' && item->architecture <= sm) ? number : 0;
    return 0;
}

/* Result of the search through all images of a module, for one GPU. */
struct survey {
    struct rex_choice best; /* the best image for the GPU */
    unsigned rank;          /* rank of `best`; 0: no image suits */
    /* the first image for the CPU; its `source` is NULL if there is no such image */
    struct rex_choice host;
    bool has_gpu_image; /* at least one image is a CUBIN or PTX, for any GPU */
};

/* Examines all images. GPU is -1 if there is no GPU. */
static struct survey survey_images(const struct rex_sources *sources, int gpu)
{
    struct survey seen = {.rank = 0};
    unsigned sm = gpu >= 0 ? rex_cuda_architecture(gpu) : 0;
    for (size_t i = 0; i < sources->count; i++)
        for (size_t j = 0; j < sources->list[i].list.count; j++) {
            const struct rex_image_item *item = &sources->list[i].list.entries[j].item;
            unsigned found = gpu >= 0 ? rank_image(item, sm) : 0;
            seen.has_gpu_image |= item->kind == REX_IMAGE_CUBIN || item->kind == REX_IMAGE_PTX;
            if (item->kind == REX_IMAGE_HOST && seen.host.source == NULL)
                seen.host = (struct rex_choice){&sources->list[i], j, -1};
            if (found > seen.rank) {
                seen.best = (struct rex_choice){&sources->list[i], j, gpu};
                seen.rank = found;
            }
        }
    return seen;
}

bool rex_choose_lacks_gpu(const struct rex_sources *sources)
{
    const struct survey seen = survey_images(sources, -1);
    return rex_cuda_devices() == 0 && seen.host.source == NULL && seen.has_gpu_image;
}

/* ---- the choice ------------------------------------------------------------------------------ */

static bool is_warned; /* librex has already warned that kernels run on the CPU */

#define NOT_FOR_GPU "there is a GPU, but no image for it"

/*
 * Returns the level of the line that reports why no GPU is used. The first such line of the process
 * is a warning, unless offloading is disabled. All later lines have the level `info`.
 */
static enum rex_log_level level_of_host_line(void)
{
    /*
     * Relaxed: the exchange is atomic, so only one thread reads false. No other data depend on the
     * flag.
     */
    return rex_runtime_disabled() || __atomic_exchange_n(&is_warned, true, __ATOMIC_RELAXED)
               ? REX_LOG_INFO
               : REX_LOG_WARN;
}

int rex_choose(const struct rex_sources *sources, struct rex_choice *choice)
{
    const struct rex_list *list = &sources->list[0].list;
    const struct rex_image_item *item;
    struct rex_report all = {0};
    char target[REX_TARGET_MAX];
    *choice = (struct rex_choice){sources->list, 0, -1};
    /*
     * A single image is chosen without a comparison; open_chosen() reports its errors. PTX is an
     * exception: librex must still choose the GPU for which the driver compiles the PTX.
     */
    if (sources->count == 1 && sources->missing.length == 0 && list->plain &&
        list->entries[0].item.kind != REX_IMAGE_PTX)
        return REX_OK;
    int count = rex_cuda_devices();
    struct survey seen = survey_images(sources, count > 0 ? 0 : -1);
    for (int gpu = 1; gpu < count && seen.rank == 0; gpu++)
        seen = survey_images(sources, gpu);
    /* List each image and its device, file by file. */
    for (size_t i = 0; i < sources->count; i++)
        for (size_t j = 0; j < sources->list[i].list.count; j++) {
            if (j == 0)
                rex_report_add(&all, i > 0 ? "; " : "", "%s is for ", sources->list[i].path);
            item = &sources->list[i].list.entries[j].item;
            rex_report_add(&all, j > 0 ? ", " : "", "%s", rex_item_target(item, target));
        }
    if (seen.host.source != NULL && (count == 0 || !seen.has_gpu_image)) {
        *choice = seen.host;
    } else if (seen.rank > 0) {
        *choice = seen.best;
    } else {
        unsigned sm = rex_cuda_architecture(0);
        if (sources->missing.length > 0)
            rex_report_add(&all, "", "; there is no %s", sources->missing.text);
        if (count == 0)
            return rex_fail(rex_cuda_forked() ? REX_EFORK : REX_ENODEVICE,
                            "no device image can be used: %s; this process has no NVIDIA GPU: %s",
                            all.text, rex_cuda_why());
        return rex_fail(REX_ENODEVICE,
                        "no device image suits the GPU, sm_%u: %s; compile with nvcc -arch=sm_%u "
                        "or rex-cc --arch=sm_%u",
                        sm, all.text, sm, sm);
    }
    item = &choice->source->list.entries[choice->index].item;
    rex_log(REX_LOG_DEBUG, "images to choose from: %s", all.text);
    if (item->kind == REX_IMAGE_HOST && seen.has_gpu_image)
        rex_log(level_of_host_line(), "kernels run on the CPU: host image %s is used: %s",
                choice->source->path, rex_cuda_why());
    else if (item->kind == REX_IMAGE_HOST && sources->missing.length > 0 && !sources->asked_for &&
             !rex_runtime_disabled() && count > 0)
        rex_log(level_of_host_line(), "kernels run on the CPU: host image %s is used: " NOT_FOR_GPU,
                choice->source->path);
    else
        rex_log(REX_LOG_INFO, "device image %s: the image for %s is chosen", choice->source->path,
                rex_item_target(item, target));
    return REX_OK;
}

/* ---- one image ------------------------------------------------------------------------------- */

static int check_image_device(const struct rex_module_image *image)
{
    unsigned sm = image->view.architecture;
    if (image->view.kind == REX_IMAGE_HOST && rex_setting_read(REX_OPTION_REQUIRE_GPU))
        return rex_fail(REX_ENODEVICE, "device image %s is for the host, and REX_REQUIRE_GPU is on",
                        image->path);
    if (image->view.kind == REX_IMAGE_HOST)
        return REX_OK;
    if (rex_cuda_devices() == 0)
        return rex_fail(
            rex_cuda_forked() ? REX_EFORK : REX_ENODEVICE,
            "device image %s is for an NVIDIA GPU (sm_%u), and this process has none: %s",
            image->path, sm, rex_cuda_why());
    for (int i = 0; i < rex_cuda_devices(); i++)
        if (rex_image_suits(sm, rex_cuda_architecture(i)))
            return REX_OK;
    unsigned here = rex_cuda_architecture(0);
    return rex_fail(REX_ENODEVICE,
                    "device image %s is for sm_%u, and the GPU is sm_%u: compile with nvcc "
                    "-arch=sm_%u or rex-cc --arch=sm_%u",
                    image->path, sm, here, here, here);
}

/*
 * Opens the chosen image. If the image is a whole file, takes the bytes of the file. If the image
 * is in a container or in memory, copies the bytes. Compiles PTX, whose bytes end with a NUL.
 * RELEASE is NULL if librex does not pass the image to libomptarget.
 */
static int open_chosen(struct rex_module_image *image, const struct rex_choice *choice,
                       const struct rex_release *release)
{
    struct rex_source *source = choice->source;
    bool is_ptx = source->list.entries[choice->index].item.kind == REX_IMAGE_PTX;
    int result = REX_OK;
    snprintf(image->path, sizeof image->path, "%s", source->path);
    image->view_most = rex_list_view_most(&source->list, choice->index);
    if (source->file.bytes != NULL && source->list.plain && !is_ptx) {
        image->bytes = source->file.bytes;
        image->size = source->file.size;
        source->file.bytes = NULL;
    } else
        result =
            rex_list_bytes(&source->list, choice->index, source->path, &image->bytes, &image->size);
    if (result == REX_OK && is_ptx)
        result = rex_image_compile(image, choice->gpu);
    if (result == REX_OK && release != NULL)
        result = rex_image_fit_header(image->bytes, image->size, image->path, release);
    if (result == REX_OK && release != NULL)
        result = rex_image_hide_modes(image, release);
    if (result != REX_OK)
        return result;
    if (release != NULL) {
        rex_host_limit_threads(image->bytes, image->size);
        unsigned char *same = rex_retained(image->bytes, image->size);
        if (same != NULL) {
            free(image->bytes);
            image->bytes = same;
            image->retained = true;
        }
    }
    result = rex_view_open_within(&image->view, image->bytes, image->size, image->view_most,
                                  image->path);
    if (result != REX_OK)
        return result;
    bool on_host = image->view.kind == REX_IMAGE_HOST;
    if (source->searched && on_host)
        result = rex_source_check_owner(source);
    if (result == REX_OK)
        result = check_image_device(image);
    if (result != REX_OK || release == NULL || !on_host)
        return result;
    result = rex_host_open_libraries(image->bytes, image->size, image->path);
    if (result != REX_OK)
        return result;
    return rex_host_check_symbols(image->bytes, image->size, image->path);
}

/*
 * RESULT is the result of the function that found SOURCES. If RESULT is 0, opens the image of
 * SOURCES that suits the device, and returns 0 or an error. Otherwise returns RESULT. Closes
 * SOURCES in any case.
 */
static int open_suiting(struct rex_module_image *image, struct rex_sources *sources, int result,
                        const struct rex_release *release)
{
    struct rex_choice choice;
    memset(image, 0, sizeof *image);
    if (result == REX_OK)
        result = rex_choose(sources, &choice);
    if (result == REX_OK)
        result = open_chosen(image, &choice, release);
    image->row = sources->row;
    rex_sources_close(sources);
    if (result != REX_OK)
        rex_module_image_close(image);
    return result;
}

int rex_module_image_retain(struct rex_module_image *image, const struct rex_release *release)
{
    if (image->retained)
        return REX_OK;
    int result = rex_retain(image->bytes, image->size, release->image_read_later);
    image->retained = result == REX_OK;
    return result;
}

void rex_module_image_close(struct rex_module_image *image)
{
    rex_view_close(&image->view);
    if (image->retained)
        rex_retained_drop(image->bytes);
    else
        free(image->bytes);
    image->retained = false;
    image->bytes = NULL;
    if (image->holds_context)
        rex_context_unhold();
    image->holds_context = false;
}

/* ---- the files and the bytes in memory ------------------------------------------------------- */

/*
 * If ON_HOST is true, adds MODULE's first image in memory that is for the CPU. If ON_HOST is false,
 * adds the first that is for GPUs. Returns 0 or an error. If there is no such image, returns
 * REX_ENOIMAGE without a message.
 */
static int add_memory(struct rex_sources *sources, const struct rex_module *module, bool on_host)
{
    const struct rex_registration *registration =
        __atomic_load_n(&module->registration, __ATOMIC_ACQUIRE);
    bool is_named = registration != NULL && registration->memory_name != NULL;
    const void *begin = on_host ? module->host_image : module->image;
    const void *end = on_host ? module->host_image_end : module->image_end;
    const struct rex_image_row *row = rex_image_row_next(module, NULL, on_host);
    size_t size = module->image_size;
    if (row != NULL) {
        begin = row->begin;
        end = row->end;
    }
    if (end != NULL || on_host)
        size = rex_bytes_between(begin, end);
    if (begin == NULL || begin == end)
        return REX_ENOIMAGE;
    sources->row = row;
    return rex_sources_add_memory(sources, begin, size,
                                  is_named ? registration->memory_name : "memory");
}

static __attribute__((noinline)) int
find_main_image(struct rex_sources *sources, const struct rex_module *module, const char *name)
{
    char configured[REX_SETTING_MAX];
    _Static_assert(PATH_MAX <= sizeof configured, "a path fits, too");
    int result = name == NULL ? add_memory(sources, module, false) : REX_ENOIMAGE;
    if (result != REX_ENOIMAGE)
        return result;
    sources->by_setting = name == NULL && rex_in_program(module, configured) &&
                          rex_setting_text(REX_OPTION_CUBIN, configured);
    sources->asked_for = name != NULL || sources->by_setting;
    if (sources->by_setting)
        name = configured;
    else if (name == NULL)
        name = module->image_name != NULL ? module->image_name : module->host_image_name;
    return name != NULL ? rex_sources_add_files(sources, module, name) : REX_ENOIMAGE;
}

/*
 * Replaces SOURCES by the module's host image. RESULT is the reason for the replacement:
 * REX_ENOIMAGE if SOURCES has no image, or 0 if SOURCES has only images for GPUs and there is no
 * GPU. If the module has no host image, does not replace SOURCES, and returns RESULT. Otherwise
 * returns 0 or an error.
 */
static int turn_to_host_image(struct rex_sources *sources, const struct rex_module *module,
                              int result)
{
    struct rex_sources host = {0};
    int found = add_memory(&host, module, true);
    if (found == REX_ENOIMAGE && module->host_image_name != NULL)
        found = rex_sources_add_files(&host, module, module->host_image_name);
    if (found == REX_OK) {
        bool has_gpu_image = result == REX_OK;
        /* A module that names no image for GPUs is for the CPU only. */
        bool is_missed = module->image_name != NULL && !has_gpu_image && !rex_runtime_disabled() &&
                         rex_cuda_devices() > 0;
        enum rex_log_level level = has_gpu_image || is_missed ? level_of_host_line() : REX_LOG_INFO;
        const char *why = has_gpu_image        ? rex_cuda_why()
                          : is_missed          ? NOT_FOR_GPU
                          : host.names == NULL ? "there is no other image"
                                               : "no such file";
        if (host.names == NULL)
            rex_log(level, "kernels run on the CPU: the host image in memory is used: %s", why);
        else
            rex_log(level, "kernels run on the CPU: host image %s is used instead of %s: %s",
                    host.list[0].path, module->image_name != NULL ? module->image_name : "a CUBIN",
                    why);
        rex_sources_close(sources);
        *sources = host;
        return REX_OK;
    }
    if (found == REX_ENOIMAGE && result == REX_ENOIMAGE && host.missing.length > 0 &&
        strcmp(host.missing.text, sources->missing.text) != 0)
        rex_report_add(&sources->missing, sources->missing.length > 0 ? ", " : "", "%s",
                       host.missing.text);
    rex_sources_close(&host);
    return found == REX_ENOIMAGE ? result : found;
}

#define OWN_NAME "rex_lib_nvidia.cubin" /* the name that rex-cc writes into a program */

static int fail_no_image(const struct rex_sources *sources)
{
    const char *names = sources->names, *missing = sources->missing.text;
    if (sources->by_setting)
        return rex_fail(REX_ENOIMAGE, "no device image %s, which REX_CUBIN names; looked for %s",
                        names, missing);
    if (!sources->asked_for && strcmp(names, OWN_NAME) == 0)
        return rex_fail(REX_ENOIMAGE,
                        "no device image %s; looked for %s; make it from the files with the "
                        "kernels: rex-cc --images",
                        names, missing);
    return rex_fail(REX_ENOIMAGE, "no device image %s; looked for %s", names, missing);
}

int rex_module_image_open(struct rex_module_image *image, const struct rex_module *module,
                          const char *name, const struct rex_release *release)
{
    struct rex_sources sources = {0};
    int result = find_main_image(&sources, module, name);
    if (!sources.asked_for &&
        (result == REX_ENOIMAGE || (result == REX_OK && rex_choose_lacks_gpu(&sources))))
        result = turn_to_host_image(&sources, module, result);
    if (result == REX_ENOIMAGE && sources.missing.length == 0)
        rex_fail(
            REX_ENOIMAGE,
            "the module names no device image: set image_name of its struct rex_module, or, for "
            "the program's own module, REX_CUBIN=PATH");
    else if (result == REX_ENOIMAGE)
        fail_no_image(&sources);
    return open_suiting(image, &sources, result, release);
}

int rex_module_image_open_alone(struct rex_module_image *image, const void *bytes, size_t size,
                                const char *name)
{
    struct rex_sources sources = {0};
    int result = bytes != NULL ? rex_sources_add_memory(&sources, bytes, size, name)
                               : rex_sources_add_files(&sources, NULL, name);
    if (result == REX_ENOIMAGE)
        result = fail_no_image(&sources);
    return open_suiting(image, &sources, result, NULL);
}
