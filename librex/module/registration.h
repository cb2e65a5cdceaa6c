/*
 * registration.h - the registration of a module: what librex keeps of it, one attempt, and what
 * libomptarget is given.
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

/* A module's `state`. */
enum { REX_MODULE_UNREGISTERED, REX_MODULE_BUSY, REX_MODULE_REGISTERED };

/* Exists from the first time that librex sees the module until the process ends. */
struct rex_registration {
    struct rex_module *module;
    const struct rex_release *release;
    ident_t *location; /* of its launches, in the source */
    struct rex_table table;
    /* of the image, if kernels are compared with it at their first launch; else zeros */
    struct rex_view view;
    struct rex_descriptor *descriptor; /* the last one; earlier ones are its `previous` */
    /*
     * No other module may have one of its keys, or an image of another kind. Under the registry's
     * lock.
     */
    bool claims_keys;
    bool on_host; /* the image is for the CPU; atomic, see rex_registration_on_host() */
    bool forked;  /* registered for a GPU in a parent process */
    /* the registration ended, and libomptarget keeps the descriptor for the next one; atomic */
    bool is_kept;
    unsigned reasons; /* fallback reasons of all its launches; ABOUT: their subject */
    char about[REX_STATE_NAME];
    bool exact_rows; /* REX_CHECK=full: in a launch by the driver each row has its own allocation */
    /* librex's own load of the image on each GPU, or NULL: module/loadedimage.c; atomic */
    struct rex_loaded_image *loaded_image[REX_CUDA_DEVICES_MAX];
    /* unloads them; NULL while there are none */
    void (*unload)(struct rex_registration *registration);
    /* the library for which librex made the entries; NULL: the program made them; atomic */
    struct rex_library *library;
    /* A module with several images in memory, module/parts.c. */
    struct rex_module *share;           /* the first image, and its entries; NULL: not divided */
    struct rex_registration *next_part; /* of the module's other images; atomic */
    struct rex_registration *whole;     /* of a part: the module's; else NULL */
    const char *memory_name;         /* name of an image in memory, in messages; NULL: "memory" */
    char *image_path;                /* of the last registration or attempt; atomic */
    const struct rex_thread *worker; /* the thread that registers or ends the module; atomic */
    int failure;                     /* of the last attempt, or 0 */
    char *failure_message;           /* for the threads that waited; under the registry's lock */
};

/* Whether librex made MODULE's entries; no program names them, and they come and go. */
static inline bool rex_is_of_library(const struct rex_module *module)
{
    const struct rex_registration *known =
        (const struct rex_registration *)__atomic_load_n(&module->registration, __ATOMIC_ACQUIRE);
    return known != NULL && __atomic_load_n(&known->library, __ATOMIC_ACQUIRE) != NULL;
}

/* Whether the image of the last registration is for the CPU. */
static inline bool rex_registration_on_host(const struct rex_registration *registration)
{
    /*
     * Relaxed: a thread that asks while another registers the module again gets the old answer or
     * the new one.
     */
    return __atomic_load_n(&registration->on_host, __ATOMIC_RELAXED);
}

/* ---- one attempt ----------------------------------------------------------------------------- */

/*
 * Register the module of REGISTRATION with the image NAME, NULL: its own; by one thread at a time.
 * 0 or an error.
 */
int rex_register(struct rex_registration *registration, const char *name);

/* Compare KERNEL with the image, as is put off with REX_CHECK=off. 0 or an error. */
int rex_registration_match(struct rex_registration *registration, struct rex_kernel *kernel);

/* ---- descriptors ----------------------------------------------------------------------------- */

/*
 * One registration with libomptarget. It is never freed and never used again, because
 * libomptarget's tables outlive the unregistration: see `entries_copied` in omp/release.h.
 */
struct rex_descriptor {
    struct rex_descriptor *previous;
    struct __tgt_bin_desc given; /* to libomptarget */
    struct __tgt_device_image image;
    void *trial;     /* the driver's module, during a trial load */
    uint64_t loaded; /* host images: a bit for each device on which libomptarget has */
    /* copies; NULL if the module's own table is registered, or they are freed */
    struct __tgt_offload_entry *entries;
};

/* The size of its image. */
static inline size_t rex_descriptor_bytes(const struct rex_descriptor *descriptor)
{
    return rex_bytes_between(descriptor->image.ImageStart, descriptor->image.ImageEnd);
}

/*
 * Make a descriptor for a registration with IMAGE: 0 or an error. FRESH: the linker's own section
 * was registered before, so that the entries have to be copies.
 */
int rex_descriptor_new(struct rex_registration *registration, const struct rex_module_image *image,
                       bool fresh, struct rex_descriptor **descriptor);

/*
 * libomptarget has ended the last registration: free what the release reads no more of it, the
 * image and copies of entries.
 */
void rex_registration_ended(struct rex_registration *registration);

#endif
