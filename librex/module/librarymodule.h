/*
 * librarymodule.h - makes the module of a library: an image, and the entries that librex makes for
 * the image.
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
    /* librex makes this module; the host keys of launches are addresses in its entries */
    struct rex_module module;
    uint32_t *symbol;         /* for each entry, the index of its symbol in the image's view */
    struct rex_library *next; /* next element of the list of unused libraries */
    struct rex_module_image image;
    /*
     * the image is registered with libomptarget; if false, only the driver can launch the kernels
     */
    bool is_registered;
    /*
     * number of holders; atomic. Each graph that uses the library is a holder. The program is one
     * holder until it calls rex_library_unload().
     */
    uint32_t holders;
    /* if the image is for a GPU: value of rex_forks() in the process that loaded the library */
    unsigned forks;
};

/*
 * Opens the image in the SIZE BYTES; if BYTES is NULL, opens the image in the file NAME. Messages
 * use NAME as the name of the image. Makes sure that libomptarget has devices. Returns 0 or an
 * error.
 */
int rex_library_open(struct rex_library **library, const void *bytes, size_t size,
                     const char *name);

/*
 * Ends the library. If graphs hold the library, librex frees the library only when the last graph
 * drops it. No thread may enqueue the library's kernels during the call. Returns 0, or an error
 * that leaves the library unchanged.
 */
int rex_library_close(struct rex_library *library);

/*
 * Returns 0, or REX_EFORK if the image is for a GPU and a parent of this process loaded LIBRARY.
 * The message begins with CALL.
 */
int rex_library_check_fork(const struct rex_library *library, const char *call);

/*
 * If MODULE belongs to a library, rex_library_hold() adds a graph to the library's holders, and
 * rex_library_drop() removes a graph. If MODULE belongs to no library, both do nothing.
 */
void rex_library_hold(struct rex_module *module);
void rex_library_drop(struct rex_module *module);

static inline struct rex_registration *rex_library_registration(const struct rex_library *library)
{
    return library->module.registration;
}

#endif
