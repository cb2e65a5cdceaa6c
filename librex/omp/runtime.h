/*
 * runtime.h - the bound libomptarget: the one library of the process whose functions librex calls.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_RUNTIME_H
#define REX_INTERNAL_RUNTIME_H

#include "omp/device.h"
#include "omp/entrypoints.h"
#include "omp/release.h"
#include "rex/configure.h"

/*
 * Returns the facts of the release of the bound libomptarget, or NULL if no libomptarget is bound
 * yet.
 */
const struct rex_release *rex_runtime(void);

/*
 * A function that points the slots of the forwarders (calls/forward.h) at the functions of the
 * library HANDLE, a libomptarget of RELEASE.
 */
typedef void rex_slots_hook(void *handle, const struct rex_release *release);

/*
 * Finds libomptarget, binds it and calls POINT_SLOTS, unless a libomptarget is bound already. If
 * STARTS_DRIVER is true, also starts the CUDA driver, or tries again after a failed start. A
 * missing GPU is not an error. Returns 0 or an error.
 */
int rex_runtime_find(bool starts_driver, rex_slots_hook *point_slots);

/*
 * Returns why librex chose the bound libomptarget: the name of a variable, or a text. Returns ""
 * before the binding.
 */
const char *rex_runtime_chosen(void);

/*
 * Returns a warning about the bound libomptarget, or "". The warning says that libomptarget's
 * release is unknown, or why libomptarget may have no device.
 */
const char *rex_runtime_doubt(void);

#endif
