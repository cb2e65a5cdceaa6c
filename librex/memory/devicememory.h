/*
 * devicememory.h - look-ups of memory of rex_device_alloc(), and waits for deferred launches.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEVICEMEMORY_H
#define REX_INTERNAL_DEVICEMEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Fails for the call WHAT because there is no device. Returns the error of rex_gate_check() if the
 * gate is closed (omp/gate.h), otherwise REX_EINVAL.
 */
int rex_none_registered(const char *what);

/*
 * Waits for the deferred launches on device NUMBER. Returns REX_ECUDA if the device is lost,
 * otherwise 0. One of these launches may have lost the device.
 */
int rex_await_device(int number, const char *caller);

/*
 * Do the work of rex_device_copy_to() (TO_HOST is 0), rex_device_copy_from() (TO_HOST is 1) and
 * rex_device_copy_peer() for the function CALLER, which messages name.
 */
int rex_copy_between_host(void *to, int to_host, const void *from, size_t size, int64_t device,
                          const char *caller);
int rex_copy_between_devices(void *to, int64_t to_device, const void *from, int64_t from_device,
                             size_t size, const char *caller);

/* Returns true if ADDRESS lies in memory of rex_device_alloc() on device NUMBER. */
bool rex_is_device_memory(const void *address, int number);

#endif
