/*
 * librarymodule.h - makes the module of a library: an image, and entries for it that librex makes.
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
    /* rex_library_unload() marks the library as ended here, even if graphs still hold it */
    struct rex_pooled pooled;
    struct rex_module module; /* made by librex; the keys of launches are its entries */
    uint32_t *symbol;         /* for each entry, the index of its symbol in the image's view */
    struct rex_library *next; /* next element of the list of unused libraries */
    struct rex_module_image image;
    /* the image is registered with libomptarget; if not, the driver launches the kernels */
    bool is_registered;
    uint32_t holders; /* number of holders: the program until it unloads, and graphs; atomic */
    /* for an image for a GPU: value of rex_forks() in the process that loaded the library */
    unsigned forks;
};

/*
 * Opens the image in BYTES, which messages call NAME, or the file NAME if BYTES is NULL. Makes sure
 * that libomptarget has devices. Returns 0 or an error.
 */
int rex_library_open(struct rex_library **library, const void *bytes, size_t size,
                     const char *name);

/*
 * Ends the library. If graphs hold the library, the library stays until the last graph drops it. No
 * thread may enqueue the library's kernels during the call. Returns 0, or an error that leaves the
 * library unchanged.
 */
int rex_library_close(struct rex_library *library);

/*
 * Adds, or drops, a graph as a holder of the library to which MODULE belongs. Does nothing if
 * MODULE is not a library's.
 */
void rex_library_hold(struct rex_module *module);
void rex_library_drop(struct rex_module *module);

static inline struct rex_registration *rex_library_registration(const struct rex_library *library)
{
    return library->module.registration;
}

#endif
