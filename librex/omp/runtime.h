/*
 * runtime.h - the bound libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RUNTIME_H
#define REX_INTERNAL_RUNTIME_H

#include "omp/device.h"
#include "omp/forward.h"
#include "omp/release.h"
#include "rex/configure.h"

/* The row of the bound release; NULL while none is bound. */
const struct rex_release *rex_runtime(void);

/*
 * As rex_runtime_bind(), and start the CUDA driver, or try it again. A GPU that is not there is no
 * error.
 */
int rex_runtime_start(void);

/* Why the bound libomptarget was chosen: a variable's name, or words; "" while none is bound. */
const char *rex_runtime_chosen(void);

/*
 * Why the bound libomptarget may have no device, or that librex does not know its release; "" if
 * nothing was found.
 */
const char *rex_runtime_doubt(void);

#endif
