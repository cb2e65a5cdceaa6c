/*
 * calls.h - calls of libomptarget: librex's own, and the program's through the forwarders.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_CALLS_H
#define REX_INTERNAL_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "omp/backend.h"
#include "omp/entrypoints.h"
#include "rex/map.h"

/*
 * SLOTS has the functions of the bound libomptarget. Makes librex's own calls use these functions.
 * Then replaces the slots that launch, map, register or work on a device by functions of librex.
 * Such a function counts the call in the gate (omp/gate.h), observes the call, and calls
 * libomptarget.
 *
 * libomptarget reports the address of its caller to an OMPT tool. The tool expects an address in
 * the program, but with a replaced slot the caller is librex. So if there is a tool, slots are
 * replaced only if a trace is on or the log is at debug.
 *
 * ALL is true if every call of the process comes through the forwarders (calls/forward.c).
 */
void rex_calls_bind(struct rex_entry_points *slots, bool all);

/*
 * Call libomptarget for librex, after libomptarget is bound. librex's calls do not pass the
 * forwarders, and libomptarget calls no forwarder during such a call (LLVM 14 to 23). So the
 * forwarders do not log the call, and do not count an end of a mapping.
 *
 * NAME is the name of a data call in a trace; if NAME is NULL, the call is not traced. In a trace,
 * a launch has the name of its kernel, the grid of PACKET, and REASON. REASON is why the CUDA
 * driver does not launch.
 *
 * rex_call_data() enters the gate (omp/gate.h). The caller of rex_call_kernel() is inside the gate
 * already. Both functions return 0, or an error if libomptarget was not called. A launch, or a data
 * call with a name, returns REX_ECUDA if the device is lost. *RETURNED is libomptarget's result of
 * a launch.
 */
int rex_call_data(enum rex_data_call call, const char *name, int64_t device,
                  const struct rex_map *map);
int rex_call_kernel(ident_t *loc, int64_t device, const void *key,
                    struct __tgt_kernel_arguments *packet, struct rex_reason reason, int *returned);

#endif
