/*
 * devicememory.h - the omp_target_* functions of the bound libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEVICEMEMORY_H
#define REX_INTERNAL_DEVICEMEMORY_H

#include <stddef.h>
#include <stdint.h>

/* What a span of memory is on a device. */
enum rex_presence { REX_ABSENT, REX_PRESENT_IN_PART, REX_PRESENT_WHOLE };
enum rex_presence rex_memory_presence(const void *address, size_t size, int number);

/* The same; where all of it is present, the device address is stored in *DEVICE. */
enum rex_presence rex_memory_find(const void *address, size_t size, int number, void **device);

/* The device address of what is present; NULL where it is not. */
void *rex_memory_address(const void *address, int number);

#endif
