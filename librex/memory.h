/* memory.h - the omp_target_* functions of the bound libomptarget. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_INTERNAL_MEMORY_H
#define REX_INTERNAL_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* DEVICE with -1 resolved; checked: 0 or REX_EDEVICE. */
int rex_memory_device(int64_t device, int *number);

/* The same for a call that is to use the device: REX_EHOST, and no word of it, where that is the host or offloading is disabled. */
int rex_memory_offload(int64_t device, int *number);

/* What a span of memory is on a device. */
enum rex_presence { REX_ABSENT, REX_PRESENT_IN_PART, REX_PRESENT_WHOLE };
enum rex_presence rex_memory_presence(const void *address, size_t size, int number);

/* The same; where all of it is present, the device address is stored in *DEVICE. */
enum rex_presence rex_memory_find(const void *address, size_t size, int number, void **device);

#endif
