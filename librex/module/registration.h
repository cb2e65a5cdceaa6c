/*
 * registration.h - registers a module: librex's data of the module, one attempt to register it, and
 * the descriptor that libomptarget is given.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_REGISTRATION_H
#define REX_INTERNAL_REGISTRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/driver.h"
#include "image/cubin.h"
#include "module/chooseimage.h"
#include "module/table.h"
#include "omp/backend.h"
#include "omp/device.h"
#include "omp/entrypoints.h"

/* Values of a module's `state`. */
enum { REX_MODULE_UNREGISTERED, REX_MODULE_BUSY, REX_MODULE_REGISTERED };

/*
 * The registration of one module. The object exists from the first time that librex sees the module
 * until the process ends. There is one exception: if only the driver launches the kernels of a
 * library, the library's registration is freed when the library ends.
 */
struct rex_registration {
    struct rex_module *module;
    const struct rex_release *release;
    ident_t *location; /* source location that the module's launches report */
    struct rex_table table;
    /* view of the image, if kernels are compared with it at their first launch; else zeros */
    struct rex_view view;
    /* the last descriptor; its `previous` is the descriptor before it */
    struct rex_descriptor *descriptor;
    /*
     * the module has claimed its keys and its kind of device, GPU or CPU (rex_modules_claim());
     * under the registry's lock
     */
    bool claims_keys;
    bool on_host; /* the image is for the CPU; atomic, see rex_registration_on_host() */
    /*
     * this process is a child of fork and cannot use the parent's registration: the image was for a
     * GPU, or a thread of the parent was registering or ending the module at the fork
     */
    bool forked;
    /*
     * the registration ended, and libomptarget keeps the descriptor for the next registration;
     * atomic
     */
    bool is_kept;
    /*
     * reasons why libomptarget, not the driver, has to launch; `about` names the symbol that causes
     * them
     */
    unsigned reasons;
    char about[REX_STATE_NAME];
    /* with REX_CHECK=full, each row has its own allocation in a launch by the driver */
    bool exact_rows;
    /* librex's own load of the image on each GPU (module/loadedimage.h), or NULL; atomic */
    struct rex_loaded_image *loaded_image[REX_CUDA_DEVICES_MAX];
    /* unloads `loaded_image` of all GPUs; NULL if no image is loaded */
    void (*unload)(struct rex_registration *registration);
    /* the library for which librex made the entries; NULL: the program made them; atomic */
    struct rex_library *library;
    /* The next three fields are for a module with several images in memory (module/parts.c). */
    /* the part with the first image and its entries; NULL: the entries are not divided */
    struct rex_module *share;
    struct rex_registration *next_part; /* part with the module's next image; atomic */
    struct rex_registration *whole;     /* the module's registration if this is a part, else NULL */
    const char *memory_name; /* name of an image in memory, in messages; NULL: "memory" */
    char *image_path;        /* path of the image of the last attempt; atomic */
    /* the thread that is registering or ending the module, or NULL; atomic */
    const struct rex_thread *worker;
    int failure;           /* error of the last attempt, or 0 */
    char *failure_message; /* message of that error; under the registry's lock */
};

/*
 * Returns true if librex made MODULE's entries for a library. No program refers to such entries,
 * and librex may free them.
 */
static inline bool rex_is_of_library(const struct rex_module *module)
{
    const struct rex_registration *known =
        (const struct rex_registration *)__atomic_load_n(&module->registration, __ATOMIC_ACQUIRE);
    return known != NULL && __atomic_load_n(&known->library, __ATOMIC_ACQUIRE) != NULL;
}

/* Returns true if the image of the last registration is for the CPU. */
static inline bool rex_registration_on_host(const struct rex_registration *registration)
{
    /*
     * Relaxed: while another thread registers the module again, the caller may use the old or the
     * new value.
     */
    return __atomic_load_n(&registration->on_host, __ATOMIC_RELAXED);
}

/* ---- one attempt ----------------------------------------------------------------------------- */

/*
 * Registers the module of REGISTRATION with the image NAME, or with the module's own image if NAME
 * is NULL. Only one thread at a time may call this function. Returns 0 or an error.
 */
int rex_register(struct rex_registration *registration, const char *name);

/*
 * Compares KERNEL with the image, if KERNEL has not been compared yet. With REX_CHECK=off, a
 * registration compares no kernels, and KERNEL's first launch calls this function. Returns 0 or an
 * error.
 */
int rex_registration_match(struct rex_registration *registration, struct rex_kernel *kernel);

/* ---- descriptors ----------------------------------------------------------------------------- */

/*
 * One registration with libomptarget. After libomptarget has seen a descriptor, librex never frees
 * it, and never registers it a second time: libomptarget's tables refer to the descriptor even
 * after the unregistration. See `entries_copied` in omp/release.h.
 */
struct rex_descriptor {
    struct rex_descriptor *previous;
    struct __tgt_bin_desc given; /* the descriptor that libomptarget is given */
    struct __tgt_device_image image;
    void *trial; /* the driver's module, during a trial load */
    /* if the image is a host image: a bit for each device on which libomptarget has loaded it */
    uint64_t loaded;
    /* copies of the entries; NULL if they are freed, or the module's own table is registered */
    struct __tgt_offload_entry *entries;
};

/* Returns the size of the image in bytes. */
static inline size_t rex_descriptor_bytes(const struct rex_descriptor *descriptor)
{
    return rex_bytes_between(descriptor->image.ImageStart, descriptor->image.ImageEnd);
}

/*
 * Makes a descriptor for a registration with IMAGE. FRESH is true if libomptarget may still refer
 * to the module's own entries after an earlier registration. In that case the descriptor gets
 * copies of the entries. Returns 0 or an error.
 */
int rex_descriptor_new(struct rex_registration *registration, const struct rex_module_image *image,
                       bool fresh, struct rex_descriptor **descriptor);

/*
 * Call this after libomptarget has ended the module's newest registration. Frees the copied entries
 * of that registration, if the LLVM release no longer reads them (`entries_copied` in
 * omp/release.h). Drops the image (rex_retained_drop()).
 */
void rex_registration_ended(struct rex_registration *registration);

#endif
