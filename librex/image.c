/*
 * image.c - from a module's names to the one image that the bound runtime accepts.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "cuda.h"
#include "error.h"
#include "keep.h"
#include "log.h"
#include "place.h"

/* ---- bytes that stay ---------------------------------------------------------------------------------------------------- */

int rex_image_keep(struct rex_image *image)
{
    int result = image->kept ? REX_OK : rex_keep(image->bytes, image->size);
    image->kept = result == REX_OK;
    return result;
}

void rex_image_close(struct rex_image *image)
{
    rex_view_close(&image->view);
    if (!image->kept)
        free(image->bytes);
    image->bytes = NULL;
}

/* ---- CUDA 13's header ------------------------------------------------------------------------------------------------------ */

/*
 * nvcc 13 writes OSABI 0x41, ABI version 8 and the SM number in bits 8 to 15 of e_flags; LLVM 18 to 21.1.1 know only the older form, which
 * the driver still loads for up to sm_90a.
 */
int rex_image_fit_header(unsigned char *bytes, size_t size, const char *path, const struct rex_release *release)
{
    Elf64_Ehdr header;
    if (release->newest_old_header == 0 || size < sizeof header)
        return REX_OK;
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_CUDA || header.e_ident[EI_OSABI] != 0x41 ||
        header.e_ident[EI_ABIVERSION] != 8)
        return REX_OK;
    unsigned sm = header.e_flags >> 8 & 0xff;
    if (sm > (unsigned)release->newest_old_header)
        return release->new_header_refused
                   ? rex_fail(REX_EUNSUPPORTED,
                              "device image %s: LLVM %d refuses CUDA 13's CUBIN header, and sm_%u has no older form; LLVM 21.1.2 or later takes it",
                              path, release->number, sm)
                   : REX_OK;
    header.e_ident[EI_OSABI] = 0x33;
    header.e_ident[EI_ABIVERSION] = 7;
    header.e_flags = sm << 16 | 0x500 | sm;
    memcpy(bytes, &header, sizeof header);
    rex_log(REX_LOG_INFO, "device image %s: CUDA 13's header rewritten for LLVM %d, in a private copy", path, release->number);
    return REX_OK;
}

/* ---- one image -------------------------------------------------------------------------------------------------------------- */

/*
 * LLVM 14 to 17 take a byte NAME_exec_mode for how a kernel of clang's is to be launched: 1 adds threads to the block, and 0, which REX writes,
 * fails to load (16). Kernels here are launched as they are, so the symbols get a name that nobody looks for.
 */
static int hide_exec_modes(struct rex_image *image, const struct rex_release *release)
{
    struct rex_image_view view;
    if (!release->exec_mode_obeyed)
        return REX_OK;
    int result = rex_view_open(&view, image->bytes, image->size, image->path);
    for (size_t i = 0; result == REX_OK && view.kind == REX_IMAGE_CUBIN && i < view.count; i++) {
        const char *name = view.symbols[i].name;
        if (view.symbols[i].kernel || rex_cubin_exec_mode_of(&view, name) == NULL)
            continue;
        rex_log(REX_LOG_INFO, "device image %s: %s renamed for LLVM %d, in a private copy", image->path, name, release->number);
        image->bytes[(const unsigned char *)name - image->bytes + (ptrdiff_t)(strlen(name) - strlen(REX_EXEC_MODE_SUFFIX))] = '.';
    }
    if (result == REX_OK)
        rex_view_close(&view);
    return result;
}

/* IMAGE owns its bytes: use those of an equal image that is kept already, then look inside. */
static int look_inside(struct rex_image *image, const struct rex_release *release)
{
    int result = rex_image_fit_header(image->bytes, image->size, image->path, release);
    if (result == REX_OK)
        result = hide_exec_modes(image, release);
    if (result != REX_OK)
        return result;
    unsigned char *same = rex_kept(image->bytes, image->size);
    if (same != NULL) {
        free(image->bytes);
        image->bytes = same;
        image->kept = true;
    }
    return rex_view_open(&image->view, image->bytes, image->size, image->path);
}

static int open_memory(struct rex_image *image, const void *bytes, size_t size, const struct rex_release *release)
{
    snprintf(image->path, sizeof image->path, "memory");
    if (size == 0)
        return rex_fail(REX_EIMAGE, "device image in memory is empty");
    image->bytes = malloc(size);
    if (image->bytes == NULL)
        return rex_fail_memory(size, "a copy of the device image");
    memcpy(image->bytes, bytes, size);
    image->size = size;
    return look_inside(image, release);
}

static size_t bytes_between(const void *begin, const void *end)
{
    return (uintptr_t)end > (uintptr_t)begin ? (uintptr_t)end - (uintptr_t)begin : 0;
}

static int open_file(struct rex_image *image, const struct rex_module *module, const char *name,
                     const struct rex_release *release, struct rex_report *tried)
{
    struct rex_bytes file;
    bool searched;
    int result = rex_place_read(module, name, &file, image->path, &searched, tried);
    if (result != REX_OK)
        return result;
    image->bytes = file.bytes;
    image->size = file.size;
    result = look_inside(image, release);
    return result == REX_OK && searched && image->view.kind == REX_IMAGE_HOST ? rex_place_check_owner(image->path, &file)
                                                                              : result;
}

bool rex_image_suits(unsigned image, unsigned device)
{
    return image / 10 == device / 10 && image % 10 <= device % 10;
}

static int check_device(const struct rex_image *image, const struct rex_release *release)
{
    unsigned sm = image->view.architecture;
    if (image->view.kind == REX_IMAGE_HOST)
        return release->host_argument_array
                   ? rex_fail(REX_EUNSUPPORTED,
                              "device image %s: the host device of LLVM %d calls kernels with one array of arguments, which no kernel of rex/kernel.h takes",
                              image->path, release->number)
                   : REX_OK;
    if (rex_cuda_devices() == 0)
        return rex_fail(REX_ENODEVICE, "device image %s is for an NVIDIA GPU (sm_%u), and this process has none: %s", image->path,
                        sm, rex_cuda_why());
    for (int i = 0; i < rex_cuda_devices(); i++)
        if (rex_image_suits(sm, rex_cuda_architecture(i)))
            return REX_OK;
    return rex_fail(REX_ENODEVICE, "device image %s is for sm_%u, and the GPU is sm_%u: compile with nvcc -arch=sm_%u", image->path,
                    sm, rex_cuda_architecture(0), rex_cuda_architecture(0));
}

/* ---- the choice ------------------------------------------------------------------------------------------------------------- */

/* gold gives missing weak symbols the program's own address where it collects sections: begin and end are the same then. */
static bool is_there(const void *begin, const void *end)
{
    return begin != NULL && begin != end;
}

/* A program that runs on the CPU because its GPU is out of order should hear of it. */
static enum rex_log_level host_level(bool gpu_image)
{
    return gpu_image && rex_cuda_broken() ? REX_LOG_WARN : REX_LOG_INFO;
}

static int open_embedded_host(struct rex_image *image, const struct rex_module *module, const struct rex_release *release)
{
    struct rex_image host = {0};
    int found = open_memory(&host, module->host_image, bytes_between(module->host_image, module->host_image_end), release);
    rex_log(host_level(image->bytes != NULL), "the host image in memory is used: %s", image->bytes != NULL ? rex_cuda_why() : "there is no other");
    rex_image_close(image);
    *image = host;
    return found;
}

/* Whether the host's image takes the place of what was found: nothing, or a CUBIN without a GPU. */
static bool wants_host(const struct rex_image *image, int result)
{
    return result == REX_ENOIMAGE || (result == REX_OK && image->view.kind == REX_IMAGE_CUBIN && rex_cuda_devices() == 0);
}

static int open_host(struct rex_image *image, const struct rex_module *module, const struct rex_release *release, int result,
                     struct rex_report *tried)
{
    struct rex_image host = {0};
    int found = open_file(&host, module, module->host_image_name, release, tried);
    if (found == REX_ENOIMAGE && result == REX_OK)
        return REX_OK; /* check_device() will say that there is no GPU */
    if (found == REX_OK)
        rex_log(host_level(result == REX_OK), "host image %s instead of %s: %s", host.path, module->image_name != NULL ? module->image_name : "a CUBIN",
                result == REX_OK ? rex_cuda_why() : "which does not exist");
    rex_image_close(image);
    *image = host;
    return found;
}

static int open_named(struct rex_image *image, const struct rex_module *module, const char *name,
                      const struct rex_release *release)
{
    char configured[REX_CONFIG_MAX], binary[PATH_MAX];
    struct rex_report tried = {0};
    const char *first = name;
    if (first == NULL && rex_place_is_main(module, binary) && rex_config(REX_OPTION_CUBIN, configured))
        first = configured;
    bool asked_for = first != NULL;
    if (first == NULL)
        first = module->image_name != NULL ? module->image_name : module->host_image_name;
    if (first == NULL || *first == '\0')
        return rex_fail(REX_ENOIMAGE, "the module names no device image");
    int result = open_file(image, module, first, release, &tried);
    bool host_wanted = !asked_for && wants_host(image, result);
    if (host_wanted && is_there(module->host_image, module->host_image_end))
        result = open_embedded_host(image, module, release);
    else if (host_wanted && module->host_image_name != NULL)
        result = open_host(image, module, release, result, &tried);
    return result == REX_ENOIMAGE ? rex_fail(REX_ENOIMAGE, "no device image %s; looked for %s", first, tried.text) : result;
}

static int open_embedded(struct rex_image *image, const struct rex_module *module, const struct rex_release *release)
{
    size_t size = module->image_end != NULL ? bytes_between(module->image, module->image_end) : module->image_size;
    int result = open_memory(image, module->image, size, release);
    struct rex_report tried = {0};
    if (!wants_host(image, result))
        return result;
    if (is_there(module->host_image, module->host_image_end))
        return open_embedded_host(image, module, release);
    return module->host_image_name != NULL ? open_host(image, module, release, result, &tried) : result;
}

int rex_image_open(struct rex_image *image, const struct rex_module *module, const char *name,
                   const struct rex_release *release)
{
    memset(image, 0, sizeof *image);
    int result = name == NULL && is_there(module->image, module->image_end) ? open_embedded(image, module, release)
                                                       : open_named(image, module, name, release);
    if (result == REX_OK)
        result = check_device(image, release);
    if (result != REX_OK)
        rex_image_close(image);
    return result;
}
