/*
 * registry.h - keeps the list of the modules that librex knows and the bytes of their images, and
 * finds the module of a host key.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_REGISTRY_H
#define REX_INTERNAL_REGISTRY_H

#include <stdbool.h>

#include "module/registration.h"

/* ---- all modules ----------------------------------------------------------------------------- */

/*
 * Lock and unlock the lock for the process-wide state of librex/module: the list of modules and
 * their keys, adopted descriptors, libraries and retained images. The lock also guards failures of
 * registrations, and facts about a kernel that its first launch adds. A thread holds the lock for
 * microseconds. A thread that holds the lock must not lock it again, and must not call libomptarget
 * or the driver.
 */
void rex_registry_lock(void);
void rex_registry_unlock(void);

/* The first module of the list, or NULL. Modules are never removed. */
extern struct rex_module *rex_first_module;
static inline struct rex_module *rex_modules_first(void)
{
    return __atomic_load_n(&rex_first_module, __ATOMIC_ACQUIRE);
}

/*
 * Retained bytes are image bytes that libomptarget may read. Equal images share retained bytes.
 * Returns the retained bytes that equal BYTES, and adds a holder to them. Returns NULL if no
 * retained bytes are equal.
 */
unsigned char *rex_retained(const unsigned char *bytes, size_t size);

/*
 * Retains BYTES, a malloc()ed buffer, for one holder. If STAYS is true, the bytes are never freed,
 * because libomptarget reads them later. Returns 0 or REX_ENOMEM.
 */
int rex_retain(unsigned char *bytes, size_t size, bool stays);

/*
 * Removes a holder of BYTES. If BYTES have no holder left, frees them, except if STAYS was true in
 * the call of rex_retain().
 */
void rex_retained_drop(const void *bytes);

/* ---- making a module ready ------------------------------------------------------------------- */

/* Checks the argument MODULE of the public function CALLER. Returns 0 or REX_EINVAL. */
int rex_module_check(const struct rex_module *module, const char *caller);

/* Conditions that rex_module_ready() makes true before a call begins. */
enum rex_need {
    /* The module is registered. */
    REX_NEED_MODULE,
    /*
     * The module is registered, for a launch whose caller has a host version of the kernel. If the
     * registration fails, rex_module_ready() returns REX_EHOST, the caller runs its host version,
     * and the last error has the cause. In four cases rex_module_ready() returns the cause itself:
     * after a fork, at the end of the process, with REX_REQUIRE_GPU, and with
     * OMP_TARGET_OFFLOAD=mandatory.
     */
    REX_NEED_MODULE_OR_HOST,
    /*
     * libomptarget has devices, for a data call, which needs no kernel. If MODULE has entries of
     * its own, MODULE is registered. If MODULE has none, another module is registered instead
     * (rex_modules_ready()), unless offloading is disabled. In that case nothing is registered, and
     * rex_module_ready() returns REX_EHOST without a message, because the caller has nothing to do.
     * With REX_REQUIRE_GPU it returns REX_ENODEVICE instead.
     */
    REX_NEED_DEVICES,
    /*
     * libomptarget has devices, for a queue. If MODULE has entries of its own, MODULE is
     * registered. If MODULE has none, another module is registered instead, unless offloading is
     * disabled. In that case rex_module_ready() returns REX_EINVAL.
     */
    REX_NEED_DEVICES_OR_MODULE
};

/*
 * Brings MODULE into the state that NEED describes, for example registered. Messages name CALLER, a
 * public function. Returns 0 or an error.
 */
int rex_module_ready(struct rex_module *module, enum rex_need need, const char *caller);

/*
 * Like rex_module_ready(), with the same results. Also enters the gate (omp/gate.h), so that no
 * module ends before rex_gate_leave(). After an error the thread is not inside the gate.
 */
int rex_module_enter(struct rex_module *module, enum rex_need need, const char *caller);

/*
 * libomptarget has devices only while a module is registered. If no module is registered, registers
 * a known module, or a module that a loaded binary exports (rex_binary_module). Returns 0 or the
 * error of that registration. If no binary has entries, returns REX_NO_ENTRIES without a message.
 */
#define REX_NO_ENTRIES 1
int rex_modules_bring(void);
/*
 * Calls rex_modules_bring() and returns its result. If no binary has entries, returns REX_EENTRIES
 * instead, with a message that names CALLER.
 */
int rex_modules_ready(const char *caller);

/*
 * Finds the modules that loaded shared objects export (rex_binary_module), and adds these modules
 * to the list.
 */
void rex_modules_look_around(void);

/*
 * Returns the module's registration, or NULL if memory ran out. The first call makes the
 * registration and adds the module to the list.
 */
struct rex_registration *rex_modules_know(struct rex_module *module);

/*
 * Adds MODULE to the list, with the registration KNOWN. All members of KNOWN must be zero. The
 * caller must hold the registry's lock.
 */
void rex_modules_list(struct rex_module *module, struct rex_registration *known);

/*
 * For the module, claims the host keys and the image's kind of device: the CPU if ON_HOST is true,
 * otherwise GPUs. Call this before the module is registered. Returns 0 or an error:
 * - REX_EKEY: another registered module has one of the keys
 * - REX_EUNSUPPORTED: another registered module has an image for the other kind of device
 */
int rex_modules_claim(struct rex_registration *registration, bool on_host);
/* Undoes rex_modules_claim(). After the call, another module can claim the keys. */
void rex_modules_unclaim(struct rex_registration *registration);

/*
 * Returns the module that has KEY, preferably a registered module. Returns NULL if no module on the
 * list has KEY.
 */
struct rex_module *rex_modules_find(const void *key);

/* ---- entries of other compilers: adopt.c ----------------------------------------------------- */

/*
 * An entry that clang 20 or later wrote (the newer form). Earlier releases of clang write struct
 * __tgt_offload_entry (the older form).
 */
struct rex_new_entry {
    uint64_t zero; /* 0; an entry in the older form has its address in these bytes */
    uint16_t version, kind;
    uint32_t flags;
    void *address;
    char *name;
    uint64_t size, data;
    void *auxiliary;
};

#define REX_ENTRY_KIND_OPENMP 1

/* A table of entries, which a descriptor delimits: the `size` bytes at `begin`. */
struct rex_entries {
    const void *begin;
    size_t size;
};

/* Returns true if TABLE is in the newer form. */
bool rex_entries_are_new(struct rex_entries table);

/* Returns the name of the entry with KEY, or NULL. */
const char *rex_entries_name(struct rex_entries table, const void *key);

/*
 * Copies TABLE to a malloc()ed buffer. If OLD is true, converts the copy to the older form, and
 * leaves out entries that are not OpenMP's. Returns 0, or -1 if memory ran out.
 */
int rex_entries_copy(struct rex_entries table, bool old, struct rex_entries *copy);

/*
 * Returns the name of the entry with KEY in any module or adopted descriptor, or NULL. The name is
 * valid while the module or descriptor is registered. The call searches all tables: a caller that
 * needs a name often should store it.
 */
const char *rex_kernel_name(const void *key);

/*
 * Returns true if code of another compiler has registered the entries at BEGIN. LLVM 14 to 20 end
 * the process if one array of entries is registered twice.
 */
bool rex_adopted_has(const struct __tgt_offload_entry *begin);

#endif
