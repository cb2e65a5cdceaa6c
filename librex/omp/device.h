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

/* CHANGE more modules are registered: libomptarget has devices while one is. */
void rex_devices_registered(int change);

/*
 * Each of the functions that follow is asked before libomptarget is called with the device: where
 * that starts it, its context is activated first.
 */

/* DEVICE with -1 resolved; checked: 0 or REX_EDEVICE. */
int rex_device_resolve(int64_t device, int *number);

/*
 * The same for a call that is to use the device: REX_EHOST, with no message, where that is the host
 * or offloading is disabled.
 */
int rex_device_offload(int64_t device, int *number);

/* The numbers that need no question: those of the devices known, the host's, and -1. */
static inline bool rex_device_known(int64_t device)
{
    return (uint64_t)device + 1 <= (uint64_t)rex_devices_known() + 1;
}

/* DEVICE is -1 or a number that there is: 0 or REX_EDEVICE. */
int rex_device_check(int64_t device);

/* The default device is one that there is: 0 or REX_EDEVICE. */
int rex_device_check_default(void);

/*
 * A device is about to be used: LLVM 18 loads no image registered after that. Whether one was, and
 * whether a module is registered whose launches may still use it.
 */
void rex_device_used(void);
bool rex_devices_used(void);
bool rex_devices_in_use(void);

/* Whether any module is registered: before that libomptarget has no devices. */
bool rex_devices_are_there(void);

/*
 * The GPU that is libomptarget's device NUMBER, as the driver counts; -1 where it is none. 0, or an
 * error whose message begins with WHO.
 */
int rex_device_ordinal(const char *who, int number, int *ordinal);

/*
 * Where the settings say that a GPU must be used: REX_ENODEVICE, or REX_EFORK, if this process
 * cannot.
 */
int rex_device_require_gpu(void);

/* Why RELEASE's libomptarget may find no GPU where there is one: true with the reason in WHY. */
bool rex_device_trouble(const struct rex_release *release, char *why, size_t size);

#endif
