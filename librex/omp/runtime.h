/*
 * runtime.h - the bound libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RUNTIME_H
#define REX_INTERNAL_RUNTIME_H

#include "omp/device.h"
#include "omp/entrypoints.h"
#include "omp/release.h"
#include "rex/configure.h"

/* The row of the bound release; NULL while none is bound. */
const struct rex_release *rex_runtime(void);

/*
 * A hook of a room to the right: points the slots of the forwarders at the functions of the library
 * HANDLE, which has RELEASE.
 */
typedef void rex_slots_hook(void *handle, const struct rex_release *release);

/*
 * Finds libomptarget and binds it, unless one is bound: POINT_SLOTS is called then. STARTS_DRIVER:
 * also starts the CUDA driver, or tries it again; a GPU that is not there is no error. Returns 0 or
 * an error.
 */
int rex_runtime_find(bool starts_driver, rex_slots_hook *point_slots);

/* Why the bound libomptarget was chosen: a variable's name, or words; "" while none is bound. */
const char *rex_runtime_chosen(void);

/*
 * Why the bound libomptarget may have no device, or that librex does not know its release; "" if
 * nothing was found.
 */
const char *rex_runtime_doubt(void);

#endif
