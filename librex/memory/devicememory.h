/*
 * devicememory.h - which device memory the program has from rex_device_alloc().
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEVICEMEMORY_H
#define REX_INTERNAL_DEVICEMEMORY_H

#include <stdbool.h>

/* Returns true if ADDRESS lies in memory of rex_device_alloc() on device NUMBER. */
bool rex_is_device_memory(const void *address, int number);

#endif
