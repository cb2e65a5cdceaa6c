/*
 * loadedimage.h - librex's own load of a module's image.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOADEDIMAGE_H
#define REX_INTERNAL_LOADEDIMAGE_H

#include "cuda/context.h"
#include "module/registry.h"

/* A kernel of the table, loaded on one device. */
struct rex_loaded_kernel {
    struct rex_loaded_image *image;
    const struct rex_kernel *facts;
    const char *name;
    void *function; /* the driver's; NULL until it could be loaded */
    /* most dynamic memory that the driver was told to allow; written under the driver's lock */
    uint32_t dynamic_memory;
};

/*
 * The image of one registration, loaded in the context of one device. It is unloaded when the
 * registration has ended and no graph holds it.
 */
struct rex_loaded_image {
    const struct rex_registration *registration;
    int ordinal;
    void *context, *module;
    /* graphs, and the registration until it ends; under the driver's lock */
    uint32_t holders;
    bool has_globals;                  /* the module has entries for globals */
    struct rex_loaded_kernel kernel[]; /* indexed like the table's entries */
};

/*
 * Load the image and its kernels on device ORDINAL in CONTEXT, which is current. Does nothing if
 * they are loaded or the image is for another device. Returns 0 or an error.
 */
int rex_loaded_image_prepare(struct rex_registration *registration, int ordinal, void *context);

/*
 * The loaded kernel of TARGET on device ORDINAL in CONTEXT, which is current. It may be launched
 * with DYNAMIC_MEMORY bytes of dynamic shared memory. NULL with an error.
 */
struct rex_loaded_kernel *rex_loaded_kernel(const struct rex_target *target, int ordinal,
                                            void *context, uint32_t dynamic_memory);

/* The device address of the global NAME; NULL with an error. */
void *rex_loaded_global_address(struct rex_registration *registration, const char *name,
                                int ordinal, void *context);

/* A graph holds an image, and drops it. */
void rex_loaded_image_hold(struct rex_loaded_image *image);
void rex_loaded_image_drop(struct rex_loaded_image *image);

#endif
