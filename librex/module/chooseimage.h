/*
 * chooseimage.h - the one image to register of a module.
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
    size_t view_most;                /* bytes that a view of it may take */
    const struct rex_image_row *row; /* of the module, which has the bytes; NULL: none has */
    bool retained;                   /* the bytes have this image among their holders */
    bool holds_context;              /* of the GPU that compiled it, until it is closed */
};

/*
 * Find, read and check the image of MODULE for RELEASE: NAME where not NULL, else what the module
 * and the configuration say. 0 or an error. Close it with rex_module_image_close().
 */
int rex_module_image_open(struct rex_module_image *image, const struct rex_module *module,
                          const char *name, const struct rex_release *release);
/*
 * The same of an image that no libomptarget is to have: BYTES, which messages call NAME, or where
 * they are NULL the files NAME, looked for as the program's are.
 */
int rex_module_image_open_alone(struct rex_module_image *image, const void *bytes, size_t size,
                                const char *name);
void rex_module_image_close(struct rex_module_image *image);

/* MODULE's next row after LAST, NULL for the first, that has an image for the CPU, or for GPUs. */
static inline const struct rex_image_row *
rex_image_row_next(const struct rex_module *module, const struct rex_image_row *last, bool on_host)
{
    /* A module of an older header ends before these fields. */
    if (module->struct_size < sizeof *module || module->images_begin == NULL)
        return NULL;
    const struct rex_image_row *row = last != NULL ? last + 1 : module->images_begin;
    while (row < module->images_end && (row->on_host != on_host || row->begin == row->end))
        row++;
    return row < module->images_end ? row : NULL;
}

/* How many bytes there are from BEGIN to END, which may be out of order: none then. */
static inline size_t rex_bytes_between(const void *begin, const void *end)
{
    return (uintptr_t)end > (uintptr_t)begin ? (uintptr_t)end - (uintptr_t)begin : 0;
}

/* Retain the bytes for RELEASE. 0 or REX_ENOMEM. */
int rex_module_image_retain(struct rex_module_image *image, const struct rex_release *release);

/* ---- the choice ------------------------------------------------------------------------------ */

struct rex_choice {
    struct rex_source *source;
    size_t index; /* of the image in the source's list */
    int gpu;      /* the GPU that it is for; -1 where it is for the CPU, or not told yet */
};

/*
 * The image that suits a GPU best: a CUBIN for exactly that GPU, else the newest CUBIN of its major
 * number that it runs, else the newest PTX that can be compiled for it. The first GPU that any
 * image suits counts. An image for the CPU is taken if there is no GPU, or no image is for any GPU.
 * A file that is one image as it is, and the only one, is chosen whatever it is. 0, or
 * REX_ENODEVICE with every image and what it is for.
 */
int rex_choose(const struct rex_sources *sources, struct rex_choice *choice);

/* Whether all that there is needs a GPU, and there is none. */
bool rex_choose_lacks_gpu(const struct rex_sources *sources);

#endif
