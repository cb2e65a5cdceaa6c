/*
 * moduleimage.c - from a module's names to the one image that the bound runtime accepts.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "module/moduleimage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/process.h"
#include "base/settings.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "image/cubin.h"
#include "image/list.h"
#include "module/choose.h"
#include "module/descriptor.h"
#include "module/imagefit.h"
#include "module/jit.h"
#include "module/modules.h"
#include "module/source.h"

/* ---- bytes that stay ------------------------------------------------------------------------- */

int rex_module_image_retain(struct rex_module_image *image)
{
    int result = image->retained ? REX_OK : rex_retain(image->bytes, image->size);
    image->retained = result == REX_OK;
    return result;
}

void rex_module_image_close(struct rex_module_image *image)
{
    rex_view_close(&image->view);
    if (!image->retained)
        free(image->bytes);
    image->bytes = NULL;
    if (image->holds_context)
        rex_context_unhold();
    image->holds_context = false;
}

/* ---- one image ------------------------------------------------------------------------------- */

/* IMAGE owns its bytes: use the retained ones where they are equal. */
static void share_retained(struct rex_module_image *image)
{
    unsigned char *same = rex_retained(image->bytes, image->size);
    if (same == NULL)
        return;
    free(image->bytes);
    image->bytes = same;
    image->retained = true;
}

static int fit(struct rex_module_image *image, const struct rex_release *release)
{
    int result = rex_image_fit_header(image->bytes, image->size, image->path, release);
    return result == REX_OK ? rex_image_hide_modes(image->bytes, image->size, image->view_most,
                                                   image->path, release)
                            : result;
}

/* Made to suit the release that is to have it, if any is; then look inside. */
static int look_inside(struct rex_module_image *image, const struct rex_release *release)
{
    int result = release == NULL ? REX_OK : fit(image, release);
    if (result != REX_OK)
        return result;
    if (release != NULL)
        share_retained(image);
    return rex_view_open_within(&image->view, image->bytes, image->size, image->view_most,
                                image->path);
}

/*
 * From here on the image has bytes of its own: those of the file, or those that were in it. PTX
 * gets a NUL behind it.
 */
static int take_bytes(struct rex_module_image *image, const struct rex_choice *choice)
{
    struct rex_source *source = choice->source;
    snprintf(image->path, sizeof image->path, "%s", source->path);
    image->view_most = rex_list_view_most(&source->list, choice->index);
    if (!source->list.plain || source->list.entries[choice->index].item.kind == REX_IMAGE_PTX)
        return rex_list_bytes(&source->list, choice->index, source->path, &image->bytes,
                              &image->size);
    image->bytes = source->file.bytes;
    image->size = source->file.size;
    source->file.bytes = NULL;
    return REX_OK;
}

/* PTX becomes a CUBIN. */
static int compile(struct rex_module_image *image, int gpu)
{
    unsigned char *cubin;
    size_t size;
    int result =
        rex_jit(image->bytes, image->size, gpu, image->path, &cubin, &size, &image->holds_context);
    if (result != REX_OK)
        return result;
    free(image->bytes);
    image->bytes = cubin;
    image->size = size;
    image->view_most = SIZE_MAX; /* the driver's own */
    return REX_OK;
}

static int open_choice(struct rex_module_image *image, const struct rex_choice *choice,
                       const struct rex_release *release)
{
    const struct rex_source *source = choice->source;
    bool ptx = source->list.entries[choice->index].item.kind == REX_IMAGE_PTX;
    int result = take_bytes(image, choice);
    if (result == REX_OK && ptx)
        result = compile(image, choice->gpu);
    if (result == REX_OK)
        result = look_inside(image, release);
    return result == REX_OK && source->searched && image->view.kind == REX_IMAGE_HOST
               ? rex_source_check_owner(image->path, &source->file)
               : result;
}

static int check_device(const struct rex_module_image *image)
{
    unsigned sm = image->view.architecture;
    if (image->view.kind == REX_IMAGE_HOST)
        return !rex_setting_require_gpu()
                   ? REX_OK
                   : rex_fail(REX_ENODEVICE,
                              "device image %s is for the host, and REX_REQUIRE_GPU is on",
                              image->path);
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

/* ---- the files and the bytes in memory ------------------------------------------------------- */

static size_t bytes_between(const void *begin, const void *end)
{
    return (uintptr_t)end > (uintptr_t)begin ? (uintptr_t)end - (uintptr_t)begin : 0;
}

/*
 * gold gives missing weak symbols the program's own address where it collects sections: begin and
 * end are the same then.
 */
static bool is_there(const void *begin, const void *end)
{
    return begin != NULL && begin != end;
}

static __attribute__((noinline)) int find_named(struct rex_sources *sources,
                                                const struct rex_module *module, const char *name)
{
    char configured[REX_SETTING_MAX];
    const char *names = name;
    _Static_assert(PATH_MAX <= sizeof configured, "a path fits, too");
    if (names == NULL && rex_in_program(module, configured) &&
        rex_setting_text(REX_OPTION_CUBIN, configured))
        names = configured;
    sources->asked_for = names != NULL;
    sources->by_setting = names == configured;
    if (names == NULL)
        names = module->image_name != NULL ? module->image_name : module->host_image_name;
    return names != NULL ? rex_sources_add_files(sources, module, names) : REX_ENOIMAGE;
}

/* What messages call an image of MODULE's in memory. */
static const char *name_of_memory(const struct rex_module *module)
{
    const struct rex_registration *registration =
        __atomic_load_n(&module->registration, __ATOMIC_ACQUIRE);
    return registration != NULL && registration->memory_name != NULL ? registration->memory_name
                                                                     : "memory";
}

static int find_main(struct rex_sources *sources, const struct rex_module *module, const char *name)
{
    if (name != NULL || !is_there(module->image, module->image_end))
        return find_named(sources, module, name);
    size_t size = module->image_end != NULL ? bytes_between(module->image, module->image_end)
                                            : module->image_size;
    return rex_sources_add_memory(sources, module->image, size, name_of_memory(module));
}

/* The host's image: 0, REX_ENOIMAGE where there is none, or an error. */
static int find_host(struct rex_sources *host, const struct rex_module *module)
{
    if (is_there(module->host_image, module->host_image_end))
        return rex_sources_add_memory(host, module->host_image,
                                      bytes_between(module->host_image, module->host_image_end),
                                      name_of_memory(module));
    return module->host_image_name != NULL
               ? rex_sources_add_files(host, module, module->host_image_name)
               : REX_ENOIMAGE;
}

static void log_host(const struct rex_sources *host, const struct rex_module *module,
                     bool gpu_image)
{
    enum rex_log_level level = gpu_image ? rex_choose_host_level() : REX_LOG_INFO;
    if (host->names == NULL)
        rex_log(level, "kernels run on the CPU: the host image in memory is used: %s",
                gpu_image ? rex_cuda_why() : "there is no other");
    else
        rex_log(level, "kernels run on the CPU: host image %s instead of %s: %s",
                host->list[0].path, module->image_name != NULL ? module->image_name : "a CUBIN",
                gpu_image ? rex_cuda_why() : "which does not exist");
}

/*
 * The host's image is used instead of images that are not there, or for which there is no GPU:
 * RESULT says which.
 */
static int turn_to_host(struct rex_sources *sources, const struct rex_module *module, int result)
{
    struct rex_sources host = {0};
    int found = find_host(&host, module);
    if (found == REX_OK) {
        log_host(&host, module, result == REX_OK);
        rex_sources_close(sources);
        *sources = host;
        return REX_OK;
    }
    if (found == REX_ENOIMAGE && result == REX_ENOIMAGE && host.missing.length > 0)
        rex_report_add(&sources->missing, "%s%s", sources->missing.length > 0 ? ", " : "",
                       host.missing.text);
    rex_sources_close(&host);
    return found == REX_ENOIMAGE ? result : found;
}

#define OWN_NAME "rex_lib_nvidia.cubin" /* as rex-cc writes it */

static int no_image(const struct rex_sources *sources)
{
    const char *names = sources->names, *missing = sources->missing.text;
    if (sources->by_setting)
        return rex_fail(REX_ENOIMAGE, "no device image %s, which REX_CUBIN names; looked for %s",
                        names, missing);
    return rex_fail(REX_ENOIMAGE, "no device image %s; looked for %s", names, missing);
}

/* The source's name is not known. A file with one kernel is often called like it. */
static int no_own_image(const struct rex_sources *sources, const struct rex_module *module)
{
    const struct __tgt_offload_entry *entry = module->entries_begin;
    bool is_only = module->entries_end - entry == 1 && entry->name != NULL;
    const char *name = is_only ? entry->name : "kernels", *end = strstr(name, "__kernel__");
    size_t length = end != NULL ? (size_t)(end - name) : strlen(name);
    return rex_fail(REX_ENOIMAGE,
                    "no device image %s; looked for %s; make it: rex-cc --images %.*s.cu",
                    sources->names, sources->missing.text, (int)length, name);
}

static int find(struct rex_sources *sources, const struct rex_module *module, const char *name)
{
    int result = find_main(sources, module, name);
    if (!sources->asked_for &&
        (result == REX_ENOIMAGE || (result == REX_OK && rex_choose_lacks_gpu(sources))))
        result = turn_to_host(sources, module, result);
    if (result != REX_ENOIMAGE)
        return result;
    if (sources->missing.length == 0)
        return rex_fail(REX_ENOIMAGE, "the module names no device image");
    bool is_of_rex_cc = !sources->asked_for && strcmp(sources->names, OWN_NAME) == 0;
    return is_of_rex_cc ? no_own_image(sources, module) : no_image(sources);
}

/* Of SOURCES, which are closed, if RESULT is 0. */
static int open_from(struct rex_module_image *image, struct rex_sources *sources, int result,
                     const struct rex_release *release)
{
    struct rex_choice choice;
    memset(image, 0, sizeof *image);
    if (result == REX_OK)
        result = rex_choose(sources, &choice);
    if (result == REX_OK)
        result = open_choice(image, &choice, release);
    if (result == REX_OK)
        result = check_device(image);
    rex_sources_close(sources);
    if (result != REX_OK)
        rex_module_image_close(image);
    return result;
}

int rex_module_image_open(struct rex_module_image *image, const struct rex_module *module,
                          const char *name, const struct rex_release *release)
{
    struct rex_sources sources = {0};
    return open_from(image, &sources, find(&sources, module, name), release);
}

int rex_module_image_open_alone(struct rex_module_image *image, const void *bytes, size_t size,
                                const struct rex_module *module, const char *name)
{
    struct rex_sources sources = {0};
    int result = bytes != NULL ? rex_sources_add_memory(&sources, bytes, size, name)
                               : rex_sources_add_files(&sources, module, name);
    return open_from(image, &sources, result == REX_ENOIMAGE ? no_image(&sources) : result, NULL);
}
