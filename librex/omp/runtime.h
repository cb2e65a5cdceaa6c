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

/* Returns the row of the bound release, or NULL before the binding. */
const struct rex_release *rex_runtime(void);

/*
 * A hook of a room to the right: points the slots of the forwarders at the functions of the library
 * HANDLE, which has RELEASE.
 */
typedef void rex_slots_hook(void *handle, const struct rex_release *release);

/*
 * Finds libomptarget, binds it and calls POINT_SLOTS, unless one is bound. STARTS_DRIVER: also
 * starts the CUDA driver, or retries that; a missing GPU is not an error. Returns 0 or an error.
 */
int rex_runtime_find(bool starts_driver, rex_slots_hook *point_slots);

/* Returns why the bound libomptarget was chosen: a variable's name or a text; "" before binding. */
const char *rex_runtime_chosen(void);

/*
 * Returns a warning about the bound libomptarget, or "". The warning is a reason why it may have no
 * device, or that librex does not know its release.
 */
const char *rex_runtime_doubt(void);

#endif
