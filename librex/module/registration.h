/*
 * registration.h - the state of all modules: their list, image bytes that are never freed, and the
 * one lock of this room; what libomptarget is given of a module.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_REGISTRATION_H
#define REX_INTERNAL_REGISTRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/cubin.h"
#include "module/moduleimage.h"
#include "module/table.h"
#include "omp/backend.h"
#include "omp/device.h"
#include "omp/forward.h"

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
    /* librex's own loads of the image: launch/loadedimage.c */
    struct rex_loaded_image *loaded_images;
    /* unloads them; NULL while there are none */
    void (*unload)(struct rex_registration *registration);
    /* the library for which librex made the entries; NULL: the program made them; atomic */
    struct rex_library *library;
    const char *memory_name;         /* name of an image in memory, in messages; NULL: "memory" */
    char *image_path;                /* of the last registration or attempt; atomic */
    const struct rex_thread *worker; /* the thread that registers or ends the module; atomic */
    int failure;                     /* of the last attempt, or 0 */
    char *failure_message;           /* for the threads that waited; under the registry's lock */
};

/* The registration of a registered module; NULL while it is not registered. */
static inline struct rex_registration *rex_registration_of(const struct rex_module *module)
{
    return (struct rex_registration *)__atomic_load_n(&module->packet_rules, __ATOMIC_ACQUIRE);
}

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

/* ---- all modules ----------------------------------------------------------------------------- */

/*
 * The lock of this room's process-wide state: the list of modules and their keys, adopted
 * descriptors, libraries and retained images. It also guards failures of registrations, and facts
 * that a first launch adds. It is held for microseconds. Code under it neither takes it again nor
 * calls libomptarget or the driver.
 */
void rex_registry_lock(void);
void rex_registry_unlock(void);

/* The first module of the list, which only grows; NULL if there is none. */
extern struct rex_module *rex_first_module;
static inline struct rex_module *rex_modules_first(void)
{
    return __atomic_load_n(&rex_first_module, __ATOMIC_ACQUIRE);
}

/* The retained bytes that are equal to these, or NULL. */
unsigned char *rex_retained(const unsigned char *bytes, size_t size);

/*
 * Retain BYTES, of malloc(), for ever, because libomptarget 15 to 20 read every image again at each
 * later registration. Returns 0 or REX_ENOMEM.
 */
int rex_retain(unsigned char *bytes, size_t size);

/* ---- entries --------------------------------------------------------------------------------- */

/* An entry of clang 20 and later; struct __tgt_offload_entry is the form before that. */
struct rex_new_entry {
    uint64_t zero; /* the older form has its address here */
    uint16_t version, kind;
    uint32_t flags;
    void *address;
    char *name;
    uint64_t size, data;
    void *auxiliary;
};

#define REX_ENTRY_KIND_OPENMP 1

/* A table of SIZE bytes, as a descriptor delimits it. */
struct rex_entries {
    const void *begin;
    size_t size;
};

/* Whether TABLE is in the newer form. */
bool rex_entries_are_new(struct rex_entries table);

/* The name of the entry with KEY, or NULL. */
const char *rex_entries_name(struct rex_entries table, const void *key);

/*
 * Copy TABLE to memory of malloc(). OLD: in the older form, with the entries of OpenMP alone.
 * Returns 0, or -1 without memory.
 */
int rex_entries_copy(struct rex_entries table, bool old, struct rex_entries *copy);

/* ---- descriptors ----------------------------------------------------------------------------- */

/*
 * One registration with libomptarget. It is never freed and never used again, because
 * libomptarget's tables outlive the unregistration. LLVM 20 and later keep them by the descriptor's
 * address, all releases by that of the host entries.
 */
struct rex_descriptor {
    struct rex_descriptor *previous;
    struct __tgt_bin_desc given; /* to libomptarget */
    struct __tgt_device_image image;
    /* copies; none if the linker's own section is registered */
    struct __tgt_offload_entry entries[];
};

/*
 * Make a descriptor for a registration with IMAGE: 0 or an error. FRESH: the linker's own section
 * was registered before, so that the entries have to be copies.
 */
int rex_descriptor_new(struct rex_registration *registration, const struct rex_module_image *image,
                       bool fresh, struct rex_descriptor **descriptor);

#endif
