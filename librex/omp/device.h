/*
 * device.h - libomptarget's devices: their numbers, the GPU of each device, and functions for
 * device memory.
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
 * Functions of the bound libomptarget for device memory. All except `data_begin` and `data_end`
 * enter the gate (omp/gate.h) before the call of libomptarget, and leave the gate after the call.
 * `associate` may be NULL. Call the functions only while a module is registered: without a module,
 * LLVM 19 and later crash in omp_get_num_devices().
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
 * Stores FUNCTIONS, and finds omp_get_default_device() of the libomp in the process. Call this when
 * libomptarget is bound, before any other function of this header.
 */
void rex_memory_calls_bind(const struct rex_omp *functions);

/* Sets `mapped_pointer` to INSTEAD, for a libomptarget without omp_get_mapped_ptr(). */
void rex_mapped_pointer_bind(void *(*instead)(const void *address, int device));

/*
 * Returns true if OMP_TARGET_OFFLOAD is WORD. If OMP_TARGET_OFFLOAD is "disabled", libomptarget's
 * functions do nothing and return -1. If OMP_TARGET_OFFLOAD is "mandatory", the program must not
 * fall back to the host.
 */
bool rex_runtime_policy_is(const char *word);

static inline bool rex_runtime_disabled(void)
{
    return rex_runtime_policy_is("disabled");
}

/*
 * Fails with REX_EHOST, because offloading is disabled or device NUMBER is the host. The message
 * begins with WHAT, and is not logged.
 */
int rex_fail_host(const char *what, int number);

/*
 * Fails with REX_ENODEVICE, because device NUMBER is not an NVIDIA GPU. The message begins with
 * WHAT, and is not logged.
 */
int rex_fail_no_gpu(const char *what, int number);

/*
 * Number of devices that libomptarget last returned. If offloading is disabled, the number is
 * REX_DEVICES_DISABLED. In this case each device number passes the checks of librex, and
 * libomptarget returns -1 for each device.
 */
#define REX_DEVICES_DISABLED (INT32_MAX - 1)
extern int rex_omp_devices;
/*
 * Asks libomptarget for the number of devices, stores the number in rex_omp_devices and returns it.
 * IS_ALONE is true if this thread is registering a module, and no other thread is inside
 * libomptarget.
 */
int rex_devices_ask(bool is_alone);

static inline int rex_devices_known(void)
{
    /*
     * Relaxed: no other data depends on the number. A caller that reads an old number asks
     * libomptarget again.
     */
    return __atomic_load_n(&rex_omp_devices, __ATOMIC_RELAXED);
}

/*
 * Returns true if NUMBER is the number of the host device, or is higher. On the host device all
 * memory counts as mapped.
 */
static inline bool rex_device_is_host(int number)
{
    return number >= rex_devices_known() && number >= rex_devices_ask(false);
}

/* Returns libomp's default device number (OMP_DEFAULT_DEVICE, omp_set_default_device()). */
int rex_openmp_default_device(void);

/* Returns DEVICE, or the number of the default device if DEVICE is -1. */
static inline int rex_openmp_number(int64_t device)
{
    return device == -1 ? rex_openmp_default_device() : (int)device;
}

/*
 * Adds CHANGE to the number of registered modules. Discards the stored GPU of each device
 * (rex_device_known_ordinal()). libomptarget has devices while at least one module is registered.
 */
void rex_devices_registered(int change);

/* Number of modules that code of other compilers has registered. */
extern int rex_foreign_registrations; /* atomic */
static inline void rex_devices_registered_elsewhere(int change)
{
    __atomic_fetch_add(&rex_foreign_registrations, change, __ATOMIC_RELEASE);
}

/*
 * Call one of the next three functions before each call of libomptarget with a device. If the call
 * may be the first use of a GPU, the function activates the context of the GPU.
 */

/*
 * Sets *NUMBER to DEVICE, or to the default device if DEVICE is -1. Returns 0 if the device exists,
 * otherwise REX_EDEVICE.
 */
int rex_device_resolve(int64_t device, int *number);

/*
 * Calls rex_device_resolve() for work that needs a device other than the host. If DEVICE is the
 * host or offloading is disabled, the result depends on the setting REX_REQUIRE_GPU. If the setting
 * is off, returns REX_EHOST without a message. If the setting is on, returns REX_ENODEVICE.
 */
int rex_device_offload(int64_t device, int *number);

/* Returns 0 if DEVICE exists, otherwise REX_EDEVICE. If DEVICE is -1, checks the default device. */
int rex_device_check(int64_t device);

/*
 * Call rex_device_used() before a device is used. LLVM 18 loads no image that is registered after
 * the first use. After the first call of rex_device_used(), rex_devices_used() returns true.
 */
extern bool rex_device_was_used; /* atomic */
static inline void rex_device_used(void)
{
    /* Relaxed: the flag never becomes false again, and no other data depends on it. */
    __atomic_store_n(&rex_device_was_used, true, __ATOMIC_RELAXED);
}
static inline bool rex_devices_used(void)
{
    /* Relaxed: with any memory order, the caller may miss a use that another thread begins now. */
    return __atomic_load_n(&rex_device_was_used, __ATOMIC_RELAXED);
}

/*
 * Sets the function ATTEMPT, which tests whether libomptarget can load the registered images on a
 * device (module/trialload.h). librex calls ATTEMPT under rex_load_lock() before the first use of
 * the device, because libomptarget loads the images at that use. If ATTEMPT fails, librex does not
 * call libomptarget, and calls ATTEMPT again at the next use.
 */
void rex_loads_expect(int (*attempt)(int number));

/*
 * Bit N is set from rex_loads_expect() until ATTEMPT succeeds on device N. librex calls ATTEMPT
 * only for devices 0 to 63. Atomic.
 */
extern uint64_t rex_loads_due;

static inline bool rex_load_is_due(int number)
{
    return number >= 0 && number < 64 &&
           (__atomic_load_n(&rex_loads_due, __ATOMIC_ACQUIRE) >> number & 1) != 0;
}

/*
 * Call rex_load_check() before a call in which libomptarget may load images on DEVICE. If ATTEMPT
 * has not succeeded on DEVICE, rex_load_check() calls ATTEMPT through rex_load_try(). Returns 0 or
 * the error of ATTEMPT.
 */
int rex_load_try(int64_t device);
static inline int rex_load_check(int64_t device)
{
    /*
     * Relaxed: librex sets the bits only while no other thread is inside the gate (omp/gate.h). The
     * caller is inside the gate, so it sees each bit that librex set before the caller entered. But
     * a thread that is not in the list of threads (rex_gate_enter_raw()) may miss a bit. If a bit
     * is set, rex_load_try() reads the bit of the device again under rex_load_lock().
     */
    bool is_none_due = __atomic_load_n(&rex_loads_due, __ATOMIC_RELAXED) == 0;
    return __builtin_expect(is_none_due, 1) ? 0 : rex_load_try(device);
}

/*
 * If libomptarget may load images in any call with device NUMBER, calls rex_load_check(). Returns 0
 * or an error. Most functions of rex_runtime_omp() also call rex_load_check() in this case, but
 * only `copy` returns the error of rex_load_check().
 */
int rex_device_load(int number);

/*
 * Returns true if at least one module is registered. Without a module, LLVM 19 and later crash in
 * omp_get_num_devices().
 */
extern int rex_registered_modules; /* atomic */
static inline bool rex_devices_are_there(void)
{
    return __atomic_load_n(&rex_registered_modules, __ATOMIC_ACQUIRE) > 0;
}

/*
 * Use this instead of rex_gate_enter() for a call that needs a device. Returns REX_EINVAL if no
 * module is registered, otherwise the result of rex_gate_enter().
 */
int rex_devices_enter(void);

/*
 * Finds the GPU that is libomptarget's device NUMBER. Sets *ORDINAL to the driver's number of the
 * GPU, or to -1 if the device is not an NVIDIA GPU. Returns 0, or an error whose message begins
 * with WHAT.
 */
int rex_device_ordinal(const char *what, int number, int *ordinal);

/*
 * Sets *ORDINAL as rex_device_ordinal() does. librex stores the ordinal of each device until a
 * module is registered or ended. If no ordinal is stored for device NUMBER, this function calls
 * rex_device_ordinal(). Returns 0 or the error of rex_device_ordinal().
 */
int rex_device_known_ordinal(int number, int *ordinal);

/*
 * Returns the ordinal that librex has stored for device NUMBER, or REX_ORDINAL_UNKNOWN if no
 * ordinal is stored. Calls neither the driver nor libomptarget.
 */
#define REX_ORDINAL_UNKNOWN (-2)
int rex_device_noted_ordinal(int number);

/*
 * Returns 0 if REX_REQUIRE_GPU is off or this process can use a GPU. Otherwise returns
 * REX_ENODEVICE, or REX_EFORK in a child that lost the driver by fork().
 */
int rex_device_require_gpu(void);

/*
 * Call this if the process has a GPU. Returns true if a libomptarget of RELEASE may be unable to
 * find the GPU. If the result is true, WHY has the reason.
 */
bool rex_device_trouble(const struct rex_release *release, char *why, size_t size);

#endif
