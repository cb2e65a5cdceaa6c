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
    /* the driver's; NULL where it could not be loaded with the image */
    void *function;
    const struct rex_image_parameter *parameter; /* where each one lies, and its size */
    uint32_t parameters;
    uint32_t bytes;         /* of all parameters */
    uint32_t shared_memory; /* of its own */
    /* the most that the driver has been told to allow; written under the lock of all images */
    uint32_t dynamic_memory;
    bool known; /* the image says what the parameters are */
    bool env;   /* and that the first is the runtime's */
};

/*
 * The image of one registration, loaded in the context of one device. It is unloaded when the
 * registration has ended and no graph holds it any more.
 */
struct rex_loaded_image {
    struct rex_loaded_image *next;
    const struct rex_registration *registration;
    const struct rex_descriptor
        *descriptor; /* the registration may end, and come again with another */
    int ordinal;
    void *context, *module;
    /* graphs, and the registration while it lasts; under the lock of all images */
    uint32_t holders;
    bool has_globals; /* the module has entries for globals */
    struct rex_view view;
    struct rex_loaded_kernel kernel[]; /* by the entry's position */
};

/*
 * Load the image and its kernels on device ORDINAL in CONTEXT, which is current, unless that was
 * done before or the image is for another device. 0 or an error.
 */
int rex_loaded_image_prepare(struct rex_registration *registration, int ordinal, void *context);

/*
 * The kernel that is KNOWN from the table, on device ORDINAL in CONTEXT, which is current. NULL
 * with an error.
 */
struct rex_loaded_kernel *rex_loaded_kernel(struct rex_registration *registration,
                                            const struct rex_kernel *known, int ordinal,
                                            void *context);

/*
 * KERNEL may be launched with BYTES of dynamic shared memory, whatever other threads ask for. 0 or
 * an error.
 */
int rex_loaded_kernel_allow(struct rex_loaded_kernel *kernel, uint32_t bytes);

/* Address of the global NAME likewise, NULL with an error. */
void *rex_loaded_global_address(struct rex_registration *registration, const char *name,
                                int ordinal, void *context);

/*
 * END is called at the end of a registration whose image was loaded on GPU ORDINAL, whose context
 * is current. Nobody launches then.
 */
void rex_loaded_image_on_unload(void (*end)(int ordinal));

/* A graph holds an image, or lets it go. */
void rex_loaded_image_hold(struct rex_loaded_image *image);
void rex_loaded_image_drop(struct rex_loaded_image *image);

#endif
