/*
 * chooseimage.h - chooses which one image of a module is registered.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CHOOSEIMAGE_H
#define REX_INTERNAL_CHOOSEIMAGE_H

#include <limits.h>
#include <stdint.h>

#include "image/view.h"
#include "module/imagefiles.h"
#include "omp/release.h"

struct rex_module_image {
    unsigned char *bytes;
    size_t size;
    struct rex_view view;
    char path[PATH_MAX];
    size_t view_most; /* maximum bytes of memory for a view of the image */
    /* the element of the module's array `images_begin` that has the image, or NULL */
    const struct rex_image_row *row;
    /*
     * `bytes` are retained (module/registry.h): rex_module_image_close() calls rex_retained_drop()
     * for them
     */
    bool retained;
    /*
     * the image was compiled from PTX, and the context of its GPU stays active until the image is
     * closed
     */
    bool holds_context;
};

/*
 * Finds, reads and checks the image NAME of MODULE for RELEASE. If NAME is NULL, the module or the
 * configuration names the image. The caller must close IMAGE with rex_module_image_close(). Returns
 * 0 or an error.
 */
int rex_module_image_open(struct rex_module_image *image, const struct rex_module *module,
                          const char *name, const struct rex_release *release);
/*
 * Opens the image in BYTES. Messages call the image NAME. Does not adapt the image to a release of
 * libomptarget. If BYTES is NULL, NAME is a list of files, which are searched in the folders for
 * the program's images. Returns 0 or an error.
 */
int rex_module_image_open_alone(struct rex_module_image *image, const void *bytes, size_t size,
                                const char *name);
void rex_module_image_close(struct rex_module_image *image);

/*
 * Searches MODULE's array `images_begin`: from the first row on if LAST is NULL, otherwise after
 * the row LAST. Returns the first row found with an image for the CPU (ON_HOST is true) or for GPUs
 * (ON_HOST is false). Returns NULL if there is no such row.
 */
static inline const struct rex_image_row *
rex_image_row_next(const struct rex_module *module, const struct rex_image_row *last, bool on_host)
{
    /* A module of an older header is smaller and has no rows. */
    if (module->struct_size < sizeof *module || module->images_begin == NULL)
        return NULL;
    const struct rex_image_row *row = last != NULL ? last + 1 : module->images_begin;
    while (row < module->images_end && (row->on_host != on_host || row->begin == row->end))
        row++;
    return row < module->images_end ? row : NULL;
}

/* Returns the number of bytes from BEGIN to END, or 0 if END is before BEGIN. */
static inline size_t rex_bytes_between(const void *begin, const void *end)
{
    return (uintptr_t)end > (uintptr_t)begin ? (uintptr_t)end - (uintptr_t)begin : 0;
}

/*
 * Retains the image's bytes (module/registry.h). If libomptarget of RELEASE still reads an image
 * after its registration, the bytes are never freed. Returns 0 or REX_ENOMEM.
 */
int rex_module_image_retain(struct rex_module_image *image, const struct rex_release *release);

/* ---- the choice ------------------------------------------------------------------------------ */

struct rex_choice {
    struct rex_source *source;
    size_t index; /* index of the image in the source's list */
    /*
     * number of the GPU for which the image was chosen; -1 if the image is for the CPU, or was
     * chosen without a check
     */
    int gpu;
};

/*
 * Chooses the best image for a GPU:
 * - a CUBIN for exactly that GPU
 * - otherwise, of the CUBINs that the GPU can run, the CUBIN with the highest SM number
 * - otherwise, of the PTX that can be compiled for the GPU, the PTX with the highest SM number
 *
 * The first GPU with a suitable image decides. An image for the CPU is chosen if there is no GPU,
 * or if no image is a CUBIN or PTX. The only image is chosen without a check, unless it is PTX, is
 * in a container, or another file is missing. Returns 0. If no image can be used, fails with
 * REX_ENODEVICE, or with REX_EFORK in a child of fork that can use no GPU (rex_cuda_forked()). The
 * message lists the images and their devices.
 */
int rex_choose(const struct rex_sources *sources, struct rex_choice *choice);

/* Returns true if there are images for GPUs only, and there is no GPU. */
bool rex_choose_lacks_gpu(const struct rex_sources *sources);

#endif
