/*
 * registration.h - what librex keeps of a module.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_REGISTRATION_H
#define REX_INTERNAL_REGISTRATION_H

#include <stdbool.h>

#include "image/cubin.h"
#include "module/descriptor.h"
#include "module/table.h"
#include "omp/device.h"
#include "omp/sender.h"

/*
 * Kernels that were launched are found by the low byte of their keys' addresses: keys have one byte
 * each and lie side by side.
 */
#define REX_RECENT 256

/* A module's `state`. */
enum { REX_MODULE_UNREGISTERED, REX_MODULE_BUSY, REX_MODULE_REGISTERED };

/* Lives as long as the process, from the first time that librex sees the module. */
struct rex_registration {
    /* the last one at each index; never NULL once registered */
    const struct rex_kernel *recent[REX_RECENT];
    struct rex_module *module;
    const struct rex_release *release;
    ident_t *location;   /* of its launches, in the source */
    uint64_t most_teams; /* in x, that a launch need not be checked for */
    struct rex_table table;
    /* of the image, where a kernel is compared with it at its first launch; else zeroes */
    struct rex_view view;
    struct rex_descriptor *descriptor; /* the last; the ones before hang from it */
    /*
     * No other module may have one of its keys, or an image of another kind. Under the
     * registry's lock.
     */
    bool claims_keys;
    bool on_host; /* the image is for the CPU; atomic, see rex_registration_on_host() */
    bool forked;  /* registered for a GPU in a parent process */
    /* the registration ended, and libomptarget has the descriptor still, to use it again; atomic */
    bool is_kept;
    unsigned against; /* what stands against launches by the driver; in ABOUT, what it names */
    char about[REX_STATE_NAME];
    bool exact_rows; /* REX_CHECK=full: each row of theirs has an allocation of its own */
    /* librex's own loads of the image: launch/loadedimage.c */
    struct rex_loaded_image *loaded_images;
    /* ends those; NULL while there are none */
    void (*unload)(struct rex_registration *registration);
    /* that librex has made the entries for; NULL: they are the program's own; atomic */
    struct rex_library *library;
    const char *memory_name; /* what messages call an image in memory; NULL: "memory" */
    char *image_path;        /* atomic: of the last registration, or of the last attempt at one */
    const struct rex_thread *worker; /* registers or ends the module; atomic */
    int failure;                     /* of the last attempt, or 0; */
    char *failure_message;           /* for the threads that waited; under the registry's lock */
};

/* The registration behind a registered module; NULL while it is not registered. */
static inline struct rex_registration *rex_registration_of(const struct rex_module *module)
{
    return (struct rex_registration *)__atomic_load_n(&module->packet_rules, __ATOMIC_ACQUIRE);
}

/* Whether librex has made MODULE's entries, which no program names and which come and go. */
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
     * Relaxed: a thread that asks while another registers the module once more gets the old answer
     * or the new one.
     */
    return __atomic_load_n(&registration->on_host, __ATOMIC_RELAXED);
}

/* The index in `recent` of the kernel with this key. */
static inline unsigned char rex_recent_slot(const void *key)
{
    return (unsigned char)(uintptr_t)key;
}

/* ---- all modules ----------------------------------------------------------------------------- */

/*
 * The lock of what this room keeps for the process: the list of modules and their keys, failures of
 * registrations, facts that a first launch adds, images that stay, adopted descriptors, libraries.
 * Held for microseconds; nothing under it takes it again, calls libomptarget or the driver.
 */
void rex_registry_lock(void);
void rex_registry_unlock(void);

/* The first module of the list, which only grows; NULL if there is none. */
extern struct rex_module *rex_first_module;
static inline struct rex_module *rex_modules_first(void)
{
    return __atomic_load_n(&rex_first_module, __ATOMIC_ACQUIRE);
}

/* The retained bytes that are equal to these, NULL if there are none. */
unsigned char *rex_retained(const unsigned char *bytes, size_t size);

/*
 * From here on BYTES, of malloc(), are never freed: libomptarget 15 to 20 read every image again at
 * each later registration. 0 or REX_ENOMEM.
 */
int rex_retain(unsigned char *bytes, size_t size);

#endif
