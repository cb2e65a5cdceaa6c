/*
 * device.h - libomptarget's devices: their numbers, which GPU each is, and its functions for their
 * memory.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEVICE_H
#define REX_INTERNAL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp/entrypoints.h"
#include "omp/release.h"

/*
 * The bound libomptarget's functions for device memory, each in flight; associate may be NULL. The
 * data calls are not in flight. Call these only after a registration: without one, LLVM 19 and
 * later crash in omp_get_num_devices().
 */
struct rex_omp {
    int (*device_count)(void);
    int (*is_present)(const void *address, int device);
    int (*associate)(const void *address, const void *on_device, size_t size, size_t offset,
                     int device);
    int (*disassociate)(const void *address, int device);
    void *(*mapped_pointer)(const void *address, int device);
    void *(*alloc)(size_t size, int device);
    void (*free)(void *memory, int device);
    int (*copy)(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset,
                int to_device, int from_device);
    void (*data_begin)(MAPPER_P);
    void (*data_end)(MAPPER_P);
};
const struct rex_omp *rex_runtime_omp(void);

/*
 * Binding sets FUNCTIONS, once, before any other function here is called. From now on the libomp in
 * the process tells the default device.
 */
void rex_memory_calls_bind(const struct rex_omp *functions);

/* The same if libomptarget has no mapped_pointer: INSTEAD does its job. */
void rex_mapped_pointer_bind(void *(*instead)(const void *address, int device));

/*
 * Whether OMP_TARGET_OFFLOAD is WORD. If it is "disabled", libomptarget does nothing and returns
 * -1. If it is "mandatory", the program has, or wants, no host version.
 */
bool rex_runtime_policy_is(const char *word);

static inline bool rex_runtime_disabled(void)
{
    return rex_runtime_policy_is("disabled");
}

/*
 * Number of devices at the last question to libomptarget; rex_devices_ask() asks again. If
 * offloading is disabled every call returns -1 for any device, so that no number has to be checked.
 */
#define REX_DEVICES_DISABLED (INT32_MAX - 1)
extern int rex_omp_devices;
/* IS_ALONE: this thread registers a module, and is alone inside of libomptarget. */
int rex_devices_ask(bool is_alone);

static inline int rex_devices_known(void)
{
    /* Relaxed: the number stands for itself; an old one makes the caller ask again. */
    return __atomic_load_n(&rex_omp_devices, __ATOMIC_RELAXED);
}

/* Whether NUMBER is the host's, where all memory counts as mapped, or a higher one. */
static inline bool rex_device_is_host(int number)
{
    return number >= rex_devices_known() && number >= rex_devices_ask(false);
}

/* libomp's default device number (OMP_DEFAULT_DEVICE, omp_set_default_device). */
int rex_openmp_default_device(void);

/* The number of DEVICE; -1 is the default device. */
static inline int rex_openmp_number(int64_t device)
{
    return device == -1 ? rex_openmp_default_device() : (int)device;
}

/* CHANGE more modules are registered. libomptarget has devices while at least one is. */
void rex_devices_registered(int change);

/* The same by code of other compilers, which has device images of its own. */
extern int rex_foreign_registrations; /* atomic */
static inline void rex_devices_registered_elsewhere(int change)
{
    __atomic_fetch_add(&rex_foreign_registrations, change, __ATOMIC_RELEASE);
}

/*
 * Call one of these functions before each call of libomptarget with a device. They activate the
 * device's context if that call may start the device.
 */

/* Writes DEVICE to *NUMBER, -1 as the default device. Returns 0 or REX_EDEVICE. */
int rex_device_resolve(int64_t device, int *number);

/*
 * The same for a call that is to use the device. Returns REX_EHOST, with no message, if that is the
 * host or offloading is disabled.
 */
int rex_device_offload(int64_t device, int *number);

/* Whether DEVICE exists, -1 as the default device: 0 or REX_EDEVICE. */
int rex_device_check(int64_t device);

/*
 * rex_device_used() notes that a device is about to be used: LLVM 18 loads no image registered
 * after that. rex_devices_used() says whether one was.
 */
extern bool rex_device_was_used; /* atomic */
static inline void rex_device_used(void)
{
    /* Relaxed: it only ever becomes true, and nothing else is read because of it. */
    __atomic_store_n(&rex_device_was_used, true, __ATOMIC_RELAXED);
}
static inline bool rex_devices_used(void)
{
    /* Relaxed: another thread's use that is not finished may be missed in any order. */
    return __atomic_load_n(&rex_device_was_used, __ATOMIC_RELAXED);
}

/*
 * libomptarget has images that it loads on each device at the first use. ATTEMPT is called for
 * device NUMBER before that, with the lock of cuda/driver.c. After its error libomptarget is not
 * called, and the next use tries again.
 */
void rex_loads_expect(int (*attempt)(int number));

/* A bit for each device that has not been tried yet; the devices beyond are not tried. */
extern uint64_t rex_loads_due;

static inline bool rex_load_is_due(int number)
{
    return number >= 0 && number < 64 &&
           (__atomic_load_n(&rex_loads_due, __ATOMIC_ACQUIRE) >> number & 1) != 0;
}

/* Call this before libomptarget may load images on DEVICE: 0, or the error of the attempt. */
int rex_load_try(int64_t device);
static inline int rex_load_check(int64_t device)
{
    /* Relaxed: a thread that has registered a module sees its bits; others look under the lock. */
    bool is_none_due = __atomic_load_n(&rex_loads_due, __ATOMIC_RELAXED) == 0;
    return __builtin_expect(is_none_due, 1) ? 0 : rex_load_try(device);
}

/*
 * Whether any module is registered. LLVM 19 and later crash if asked for devices before the first
 * registration or after the last.
 */
extern int rex_registered_modules; /* atomic */
static inline bool rex_devices_are_there(void)
{
    return __atomic_load_n(&rex_registered_modules, __ATOMIC_ACQUIRE) > 0;
}

/* rex_gate_enter() for a call that needs a device. REX_EINVAL if no module is registered. */
int rex_devices_enter(void);

/*
 * Finds the GPU that is libomptarget's device NUMBER, as the driver counts; -1 if it is no GPU.
 * Returns 0, or an error whose message begins with WHAT.
 */
int rex_device_ordinal(const char *what, int number, int *ordinal);

/* The same, asked once until a module is registered or ended. */
int rex_device_known_ordinal(int number, int *ordinal);

/* Returns REX_ENODEVICE or REX_EFORK if REX_REQUIRE_GPU is on and this process can use no GPU. */
int rex_device_require_gpu(void);

/* There is a GPU: whether RELEASE's libomptarget may find none; WHY gets the reason. */
bool rex_device_trouble(const struct rex_release *release, char *why, size_t size);

#endif
