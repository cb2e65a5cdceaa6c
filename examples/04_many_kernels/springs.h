/*
 * Lesson 4: what the two host files share.
 *
 * steps.c defines the kernels' keys with REX_KERNEL. many_kernels.c launches one of the kernels,
 * too, and REX_KERNEL_DECLARE makes its key known there. A kernel that two files define has two
 * identities, and the linker refuses it.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef SPRINGS_H
#define SPRINGS_H

#include <rex.h>

#include "parameters.h"

REX_KERNEL_DECLARE(energy, ENERGY_PARAMETERS);

/* A step of @count bodies, whose arrays are mapped: two launches. 0, or an error of a launch. */
int take_step(int64_t count, double *position, double *velocity);

#endif
