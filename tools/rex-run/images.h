/*
 * images.h - finds the device images that clang put into a program or a library.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_RUN_IMAGES_H
#define REX_RUN_IMAGES_H

#include <stdbool.h>

/* Returns true if the ELF file at PATH has device images for the CPU, but not for an NVIDIA GPU. */
bool is_for_cpu_alone(const char *path);

#endif
