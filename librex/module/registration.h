/*
 * registration.h - what librex keeps of a module.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_REGISTRATION_H
#define REX_INTERNAL_REGISTRATION_H

#include <stdbool.h>

#include "module/table.h"
#include "omp/device.h"

/*
 * One registration with libomptarget. Never freed and never used again: LLVM 20 on keep tables by
 * the descriptor's address, all releases by that of the host entries, and both outlive the
 * unregistration.
 */
struct rex_record {
    struct rex_record *previous;
    struct __tgt_bin_desc descriptor;
    struct __tgt_device_image image;
    /* copies; none where the linker's own section is registered */
    struct __tgt_offload_entry entries[];
};

/*
 * Kernels that were launched are found by the low byte of their keys' addresses: keys have one byte
 * each and lie side by side.
 */
#define REX_RECENT 256

/* Lives as long as the process, from the first time that librex sees the module. */
struct rex_registration {
    /* the last one in each place; never NULL once registered */
    const struct rex_launched *recent[REX_RECENT];
    struct rex_module *module;
    const struct rex_release *release;
    ident_t *place; /* source location of its launches */
    /* that there were when it was registered, and two more: the host, and -1 */
    uint64_t devices;
    uint32_t most_teams; /* in x, that a launch need not be checked for */
    struct rex_table table;
    /* of the image, where a kernel is compared with it at its first launch; else NULL */
    struct rex_image_view *view;
    struct rex_record *record; /* the last; the ones before hang from it */
    /*
     * its keys may not be another module's, nor may that have an image of another kind; under the
     * list's lock
     */
    bool claims_keys;
    bool on_host; /* the image is for the CPU */
    bool forked;  /* registered for a GPU in a parent process */
    /* librex's own loads of the image, for queues; see queueimage.c */
    struct rex_queue_image *queue_images;
    /* ends those; NULL while there are none */
    void (*unload)(struct rex_registration *registration);
    char *image_path;         /* of the last registration, or of the last attempt at one */
    uintptr_t failed_attempt; /* number of the last attempt that failed, */
    int failure;              /* its result */
    /* and its message, for the threads that waited; under the lock of module.c */
    char *failure_message;
};

/* The registration behind a registered module; NULL while it is not registered. */
static inline struct rex_registration *rex_registration_of(const struct rex_module *module)
{
    return (struct rex_registration *)__atomic_load_n(&module->packet_rules, __ATOMIC_ACQUIRE);
}

/* The place in `recent` of the kernel with this key. */
static inline unsigned char rex_recent_place(const void *key)
{
    return (unsigned char)(uintptr_t)key;
}

/*
 * Compare the kernel at POSITION with the image, as is put off with REX_CHECK=off. 0 or an error.
 */
int rex_registration_match(struct rex_registration *registration, int64_t position);

/*
 * A new record for a registration with IMAGE: 0 or an error. FRESH: the linker's own section was
 * used before.
 */
int rex_record_new(struct rex_registration *registration, const struct rex_image *image, bool fresh,
                   struct rex_record **record);

/* An argument of the public function CALLER: 0 or REX_EINVAL. */
int rex_module_check(const struct rex_module *module, const char *caller);

/*
 * The module's registration, made and put on the list of modules the first time; NULL where memory
 * ran out.
 */
struct rex_registration *rex_modules_know(struct rex_module *module);

/*
 * From now on no other module may have one of the keys, or an image of another kind: 0, REX_EKEY
 * where one has, REX_EUNSUPPORTED; and the end of that. ON_HOST: the image is for the CPU.
 */
int rex_modules_claim(struct rex_registration *registration, bool on_host);
void rex_modules_release(struct rex_registration *registration);

/* The list of modules: the one that has KEY, registered or only known; NULL if none has. */
struct rex_module *rex_modules_find(const void *key);
/* The first module of the list, NULL if there is none. */
struct rex_module *rex_modules_first(void);

/* Records that no module has KEY: REX_EKEY. */
int rex_unknown_key(const void *key);

/*
 * Blocks in x for a launch that leaves the number open: enough for TRIP_COUNT iterations (0:
 * unknown) by blocks of THREADS.
 */
uint32_t rex_default_teams(uint64_t trip_count, uint32_t threads);
#define REX_DEFAULT_THREADS 128u

/*
 * A launch with every check, the packet as the release wants it: 0 and what libomptarget returned
 * in *RESULT, or an error.
 */
int rex_launch_fitted(struct rex_module *module, int64_t device, int32_t num_teams,
                      int32_t thread_limit, const void *host_key,
                      const struct __tgt_kernel_arguments *args, int *result);

/* In no table, and no program has its key. */
extern const struct rex_launched rex_never_launched;

/* The source location ";unknown;unknown;0;0;;". */
extern ident_t rex_unknown_place;

#endif
