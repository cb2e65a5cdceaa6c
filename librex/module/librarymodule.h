/*
 * librarymodule.h - the module of a library: an image without a program's entries.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_LIBRARYMODULE_H
#define REX_INTERNAL_LIBRARYMODULE_H

#include "base/pool.h"
#include "module/chooseimage.h"
#include "module/registration.h"
#include "rex/library.h"

struct rex_library {
    struct rex_pooled pooled; /* ended once unloaded; graphs may still have the library */
    struct rex_module module; /* of entries that librex has made: what launches name */
    uint32_t *symbol;         /* of each entry: its number in the image's view */
    struct rex_library *next; /* of those that are not in use */
    struct rex_module_image image;
    /* with libomptarget; else it knows nothing of it, and the driver launches */
    bool is_registered;
    uint32_t holders; /* who has loaded it, and graphs; atomic */
    unsigned forks;   /* of the process that has loaded it, where it is not registered */
};

/*
 * Open the image in BYTES, which messages call NAME, or where they are NULL the file NAME; see that
 * libomptarget has devices. 0 or an error.
 */
int rex_library_open(struct rex_library **library, const void *bytes, size_t size,
                     const char *name);

/*
 * End it: 0, or an error, after which it is as before. No thread puts launches of it in queues
 * meanwhile; while graphs have any it stays.
 */
int rex_library_close(struct rex_library *library);

/* A graph has a launch of MODULE, or has it no more; nothing where that is no library's. */
void rex_library_hold(struct rex_module *module);
void rex_library_drop(struct rex_module *module);

static inline struct rex_registration *rex_library_registration(const struct rex_library *library)
{
    return library->module.registration;
}

#endif
