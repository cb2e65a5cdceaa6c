/*
 * device.h - libomptarget's devices: their numbers, and which GPU each is.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEVICE_H
#define REX_INTERNAL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp/memorycalls.h"
#include "omp/release.h"

/* CHANGE more modules are registered. libomptarget has devices while at least one is. */
void rex_devices_registered(int change);

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

/* Whether DEVICE needs no question: it is a known device, the host or -1. */
static inline bool rex_device_known(int64_t device)
{
    return (uint64_t)device + 1 <= (uint64_t)rex_devices_known() + 1;
}

/* Whether DEVICE is -1 or an existing number: 0 or REX_EDEVICE. */
int rex_device_check(int64_t device);

/* Whether the default device exists: 0 or REX_EDEVICE. */
int rex_device_check_default(void);

/*
 * rex_device_used() notes that a device is about to be used: LLVM 18 loads no image registered
 * after that. rex_devices_used() says whether one was. rex_devices_in_use() says whether a module
 * is registered, too, whose launches may still use it.
 */
void rex_device_used(void);
bool rex_devices_used(void);
bool rex_devices_in_use(void);

/* Whether any module is registered. libomptarget has no devices before that. */
bool rex_devices_are_there(void);

/*
 * Finds the GPU that is libomptarget's device NUMBER, as the driver counts; -1 if it is no GPU.
 * Returns 0, or an error whose message begins with WHO.
 */
int rex_device_ordinal(const char *who, int number, int *ordinal);

/* Returns REX_ENODEVICE or REX_EFORK if REX_REQUIRE_GPU is on and this process can use no GPU. */
int rex_device_require_gpu(void);

/* There is a GPU: whether RELEASE's libomptarget may find none; WHY gets the reason. */
bool rex_device_trouble(const struct rex_release *release, char *why, size_t size);

#endif
