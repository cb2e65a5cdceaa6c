/*
 * Lesson 4: declarations for the two host files.
 *
 * steps.c defines the kernels' keys with REX_KERNEL. many_kernels.c launches one of the kernels,
 * too, and REX_KERNEL_DECLARE declares its key there. If two files define a kernel, it has two
 * keys, and the linker reports an error.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef SPRINGS_H
#define SPRINGS_H

#include <rex.h>

#include "parameters.h"

REX_KERNEL_DECLARE(energy, ENERGY_PARAMETERS);

/* Moves @count bodies by one step of two launches; the arrays are mapped. Returns 0 or an error. */
int take_step(int64_t count, double *position, double *velocity);

#endif
