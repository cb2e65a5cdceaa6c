/*
 * loadedimage.h - librex's own load of a module's image, from which the driver launches.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOADEDIMAGE_H
#define REX_INTERNAL_LOADEDIMAGE_H

#include "cuda/context.h"
#include "module/resolve.h"

/* A kernel, loaded on one device. */
struct rex_loaded_kernel {
    struct rex_loaded_image *image;
    const struct rex_kernel *facts;
    const char *name;
    void *function; /* the driver's function; NULL until it is loaded */
    /*
     * bytes of dynamic shared memory that librex has allowed for the function; written under
     * rex_load_lock()
     */
    uint32_t dynamic_memory;
};

/*
 * The image of one registration, loaded in the context of one device. The image is unloaded after
 * the registration has ended and all graphs with its kernels have dropped it.
 */
struct rex_loaded_image {
    const struct rex_registration *registration;
    int ordinal;
    void *context, *module;
    /* number of holders: graphs, and the registration until it ends; guarded by rex_load_lock() */
    uint32_t holders;
    bool has_globals;                  /* the module has entries for globals */
    struct rex_loaded_kernel kernel[]; /* indexed like the table's entries */
};

/*
 * Loads the image of REGISTRATION, the images of the later parts (module/parts.h), and their
 * kernels on device ORDINAL in CONTEXT, which must be current. Skips an image that is loaded
 * already or is for another device. Returns 0 or an error.
 */
int rex_loaded_image_prepare(struct rex_registration *registration, int ordinal, void *context);

/*
 * Returns the loaded kernel of TARGET on device ORDINAL in CONTEXT, which must be current. Returns
 * NULL with an error on failure. The returned kernel can be launched with DYNAMIC_MEMORY bytes of
 * dynamic shared memory.
 */
struct rex_loaded_kernel *rex_loaded_kernel(const struct rex_target *target, int ordinal,
                                            void *context, uint32_t dynamic_memory);

/* Returns the device address of the global NAME, or NULL with an error. */
void *rex_loaded_global_address(struct rex_registration *registration, const char *name,
                                int ordinal, void *context);

/* Adds, or drops, a graph as a holder of IMAGE. */
void rex_loaded_image_hold(struct rex_loaded_image *image);
void rex_loaded_image_drop(struct rex_loaded_image *image);

#endif
