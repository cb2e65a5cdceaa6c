/*
 * devices.h - GPUs, and the devices of libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INFO_DEVICES_H
#define REX_INFO_DEVICES_H

#include <stdbool.h>

/*
 * The GPUs, and the devices that libomptarget gives a host image: found in a child, so that a
 * library that crashes takes nothing along.
 */
void devices_print(bool json, bool have_runtime);

#endif
