/*
 * kernels.h - the kernels of a device source, and their parameters.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CHECK_KERNELS_H
#define CHECK_KERNELS_H

#include "source.h"

/* Add those that the tokens of the device file PATH define. */
void kernels_read(struct sources *sources, const char *path, const struct tokens *tokens);

#endif
