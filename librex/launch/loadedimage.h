/*
 * loadedimage.h - librex's own load of a module's image.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LOADEDIMAGE_H
#define REX_INTERNAL_LOADEDIMAGE_H

#include "cuda/context.h"
#include "module/registration.h"

struct rex_loaded_kernel {
    struct rex_loaded_image *image;
    const char *name;
    /* the driver's function; NULL until it could be loaded */
    void *function;
    const struct rex_image_parameter *parameter; /* offset and size of each parameter */
    uint32_t parameters;
    uint32_t bytes;         /* of all parameters */
    uint32_t shared_memory; /* static shared memory */
    /*
     * most dynamic memory that the driver was told to allow; written under the lock of all images
     */
    uint32_t dynamic_memory;
    bool known; /* the image tells the parameters */
    bool env;   /* the first parameter is the runtime's */
};

/*
 * The image of one registration, loaded in the context of one device. It is unloaded when the
 * registration has ended and no graph holds it.
 */
struct rex_loaded_image {
    struct rex_loaded_image *next;
    const struct rex_registration *registration;
    const struct rex_descriptor
        *descriptor; /* of this load; the next registration may have another one */
    int ordinal;
    void *context, *module;
    /* graphs, and the registration until it ends; under the lock of all images */
    uint32_t holders;
    bool has_globals; /* the module has entries for globals */
    struct rex_view view;
    struct rex_loaded_kernel kernel[]; /* indexed like the table's entries */
};

/*
 * Load the image and its kernels on device ORDINAL in CONTEXT, which is current. Does nothing if
 * they are loaded or the image is for another device. Returns 0 or an error.
 */
int rex_loaded_image_prepare(struct rex_registration *registration, int ordinal, void *context);

/*
 * The loaded kernel of KNOWN, an element of the table, on device ORDINAL in CONTEXT, which is
 * current. NULL with an error.
 */
struct rex_loaded_kernel *rex_loaded_kernel(struct rex_registration *registration,
                                            const struct rex_kernel *known, int ordinal,
                                            void *context);

/*
 * Allow launches of KERNEL with BYTES of dynamic shared memory; other threads' requests stay
 * allowed. Returns 0 or an error.
 */
int rex_loaded_kernel_allow(struct rex_loaded_kernel *kernel, uint32_t bytes);

/* The device address of the global NAME; NULL with an error. */
void *rex_loaded_global_address(struct rex_registration *registration, const char *name,
                                int ordinal, void *context);

/* A graph holds an image, and drops it. */
void rex_loaded_image_hold(struct rex_loaded_image *image);
void rex_loaded_image_drop(struct rex_loaded_image *image);

#endif
