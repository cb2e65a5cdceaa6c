/*
 * devicememory.h - which device memory the program has from rex_device_alloc().
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEVICEMEMORY_H
#define REX_INTERNAL_DEVICEMEMORY_H

#include <stdbool.h>

/* For a call WHAT without a device: REX_EINVAL, or why the gate is closed. */
int rex_none_registered(const char *what);

/* Wait for the deferred launches of device NUMBER, which may find it lost: 0, or REX_ECUDA. */
int rex_await_device(int number, const char *caller);

/* Whether ADDRESS lies in memory of rex_device_alloc() on device NUMBER. */
bool rex_is_device_memory(const void *address, int number);

#endif
