/* device.h - which GPU a device is, and what is wrong with the driver. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef REX_INTERNAL_DEVICE_H
#define REX_INTERNAL_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "release.h"

/* The GPU that is libomptarget's device NUMBER, as the driver counts; -1 where it is none. An error begins with WHO. */
int rex_device_ordinal(const char *who, int number, int *ordinal);

/* The most shared memory that a block can have on any GPU here, in bytes; 0: the driver does not say. */
uint64_t rex_gpu_most_shared_memory(void);

/* Why RELEASE's libomptarget may find no GPU where there is one: 1 with the reason in WHY, or 0. */
int rex_device_trouble(const struct rex_release *release, char *why, size_t size);

#endif
