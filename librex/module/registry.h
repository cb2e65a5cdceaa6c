/*
 * registry.h - the modules that librex knows, and the module of each host key; the images that they
 * are registered with.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_REGISTRY_H
#define REX_INTERNAL_REGISTRY_H

#include <stdbool.h>

#include "module/registration.h"

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

/* The retained bytes that are equal to these, which have one more holder then; NULL: none are. */
unsigned char *rex_retained(const unsigned char *bytes, size_t size);

/*
 * Retain BYTES, of malloc(), for one holder. STAYS: for ever, because the release reads them later.
 * Returns 0 or REX_ENOMEM.
 */
int rex_retain(unsigned char *bytes, size_t size, bool stays);

/* BYTES have one holder less; with the last one those that do not stay are freed. */
void rex_retained_drop(const void *bytes);

/* ---- registered ------------------------------------------------------------------------------ */

/* Check the argument MODULE of the public function CALLER: 0 or REX_EINVAL. */
int rex_module_check(const struct rex_module *module, const char *caller);

/* A call needs one of these of its module, before it begins. */
enum rex_need {
    /* that it is registered */
    REX_NEED_MODULE,
    /*
     * The same for a wrapper that launches. REX_EHOST if the module cannot be registered: the
     * caller runs its host version. The last error has the cause. The cause itself is returned if
     * that would hide it: after a fork, at the end of the process, with REX_REQUIRE_GPU or
     * OMP_TARGET_OFFLOAD=mandatory.
     */
    REX_NEED_MODULE_OR_HOST,
    /*
     * Devices, and no kernel: for a data call. A module without entries of its own needs no
     * registration if another module has brought devices, or can. REX_EHOST, with no message, if it
     * has none and offloading is disabled: the caller has nothing to do.
     */
    REX_NEED_DEVICES,
    /*
     * The same for a queue: if offloading is disabled the module is registered. A program whose
     * kernels are all in libraries has no entries, so no module to register.
     */
    REX_NEED_DEVICES_OR_MODULE
};

/* Give the public function CALLER, which messages name, what it needs: 0 or an error. */
int rex_module_ready(struct rex_module *module, enum rex_need need, const char *caller);

/*
 * The same, and the thread is inside the gate then: no module ends before rex_gate_leave(). After
 * an error the caller leaves nothing.
 */
int rex_module_enter(struct rex_module *module, enum rex_need need, const char *caller);

/*
 * Make sure of devices, which come with a registration. Returns 0 if a module is registered.
 * Otherwise registers a known module, or one that a loaded binary exports (rex_binary_module).
 * Returns 0, that error, or REX_NO_ENTRIES, with no message, if no binary has entries.
 */
#define REX_NO_ENTRIES 1
int rex_modules_bring(void);
/* The same for CALLER; REX_EENTRIES if no binary has entries. */
int rex_modules_ready(const char *caller);

/* Add the modules that loaded shared objects export to the list. */
void rex_modules_look_around(void);

/*
 * The module's registration. The first call makes it and adds the module to the list. NULL without
 * memory.
 */
struct rex_registration *rex_modules_know(struct rex_module *module);

/* Adds MODULE, whose registration is KNOWN, which is zeros, to the list; under the lock. */
void rex_modules_list(struct rex_module *module, struct rex_registration *known);

/*
 * Claim the keys and the kind of image: no other module may have one of the keys, or an image of
 * another kind. Returns 0, REX_EKEY if another module has one of the keys, or REX_EUNSUPPORTED if
 * it has an image of another kind. ON_HOST: the image is for the CPU.
 */
int rex_modules_claim(struct rex_registration *registration, bool on_host);
/* Release the claim. */
void rex_modules_unclaim(struct rex_registration *registration);

/* The module on the list that has KEY, a registered one if possible; NULL if none has it. */
struct rex_module *rex_modules_find(const void *key);

/* The kernel of a launch. */
struct rex_target {
    struct rex_registration *registration;
    struct rex_kernel *kernel;
    const char *name;
};

/* Look KEY up in MODULE's table. Returns 0, REX_EINVAL if MODULE is not registered, or REX_EKEY. */
int rex_resolve(const struct rex_module *module, const void *key, struct rex_target *target);

/* ---- entries of other compilers: adopt.c ----------------------------------------------------- */

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

/*
 * The name that the entry with KEY has, of a module or of a descriptor that another compiler's code
 * has registered; NULL if there is none. It stays as long as that is registered. The tables are
 * walked: a caller that asks often keeps the answer.
 */
const char *rex_kernel_name(const void *key);

/*
 * True if code of the program's own has registered the entries at BEGIN. LLVM 14 to 20 end the
 * process if the same array of entries is registered twice.
 */
bool rex_adopted_has(const struct __tgt_offload_entry *begin);

#endif
