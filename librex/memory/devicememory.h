/*
 * devicememory.h - look-ups of memory of rex_device_alloc(), and waits for deferred launches.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEVICEMEMORY_H
#define REX_INTERNAL_DEVICEMEMORY_H

#include <stdbool.h>

/*
 * Fails for the call WHAT because there is no device. Returns the error of rex_gate_check() if the
 * gate is closed (omp/gate.h), otherwise REX_EINVAL.
 */
int rex_none_registered(const char *what);

/*
 * Waits for the deferred launches on device NUMBER. Returns 0, or REX_ECUDA if the device is lost.
 * One of these launches may have lost the device.
 */
int rex_await_device(int number, const char *caller);

/* Returns true if ADDRESS lies in memory of rex_device_alloc() on device NUMBER. */
bool rex_is_device_memory(const void *address, int number);

#endif
