/*
 * modules.h - the modules that librex knows, and whose key is whose.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_MODULES_H
#define REX_INTERNAL_MODULES_H

#include <limits.h>
#include <stdbool.h>

#include "module/registration.h"

/* An argument of the public function CALLER: 0 or REX_EINVAL. */
int rex_module_check(const struct rex_module *module, const char *caller);

/* rex_module_register(module, NULL) for the public function CALLER, which messages name. */
int rex_module_ready(struct rex_module *module, const char *caller);

/*
 * The same for a data call, which needs a device and no kernel: a module without entries of its own
 * needs no registration where another one has brought devices, or can bring them. REX_EHOST, with
 * no message, where it has none and offloading is disabled: there is nothing to do.
 */
int rex_module_ready_for_data(struct rex_module *module, const char *caller);

/*
 * Devices come with a registration: 0 where a module is registered, or one that is known or that a
 * loaded binary shows (rex_binary_module) can be registered. Else the error of that, or
 * REX_NO_ENTRIES, with no message, where no binary has entries.
 */
#define REX_NO_ENTRIES 1
int rex_modules_bring(void);
/* The same for CALLER; REX_EENTRIES where no binary has entries. */
int rex_modules_ready(const char *caller);

/* Make the modules known that loaded shared objects show. */
void rex_modules_look_around(void);

/*
 * The module's registration, made and put on the list of modules the first time; NULL where memory
 * ran out.
 */
struct rex_registration *rex_modules_know(struct rex_module *module);

/*
 * From now on no other module may have one of the keys, or an image of another kind: 0; REX_EKEY
 * where another has one of the keys already, REX_EUNSUPPORTED where it has an image of another
 * kind. ON_HOST: the image is for the CPU.
 */
int rex_modules_claim(struct rex_registration *registration, bool on_host);
/* The keys, and the kind of image, are free again. */
void rex_modules_unclaim(struct rex_registration *registration);

/* The list of modules: the one that has KEY, registered or only known; NULL if none has. */
struct rex_module *rex_modules_find(const void *key);

/* The source location ";unknown;unknown;0;0;;". */
extern ident_t rex_unknown_location;

/* The kernel of a launch, and the device that was asked for: -1 or a number. */
struct rex_target {
    struct rex_registration *registration;
    struct rex_kernel *kernel;
    int64_t device;
    unsigned against;          /* REX_AGAINST_: what stands against a launch by the driver */
    const struct rex_map *map; /* of the launch, for messages; NULL: it has a packet */
};

/* Look KEY up in MODULE's table. 0, REX_EINVAL where that is not registered, or REX_EKEY. */
int rex_resolve(const struct rex_module *module, const void *key, int64_t device,
                struct rex_target *target);

static inline const char *rex_target_name(const struct rex_target *target)
{
    return target->kernel->entry->name;
}

static inline struct rex_reason rex_target_reason(const struct rex_target *target)
{
    return (struct rex_reason){target->against, target->registration->about};
}

#endif
