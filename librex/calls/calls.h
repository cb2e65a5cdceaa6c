/*
 * calls.h - calls of libomptarget: librex's own calls, and the program's calls through the
 * forwarders (calls/forward.c).
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
 * Then puts functions of librex in the slots of all functions that launch, map, register images or
 * use a device. These functions of librex call libomptarget, and trace and log the call. All except
 * those for registration also count the call in the gate (omp/gate.h).
 *
 * libomptarget reports the address of its caller to an OMPT tool. The tool expects an address in
 * the program, but with a replaced slot the caller is librex. So if there is a tool, librex
 * replaces slots only if a trace is on or the level of the log is `debug`.
 *
 * ALL is true if every call of the process comes through the forwarders (calls/forward.c).
 */
void rex_calls_bind(struct rex_entry_points *slots, bool all);

/*
 * rex_call_data() and rex_call_kernel() call libomptarget for librex. Use them only after
 * libomptarget is bound. librex's calls do not go through the forwarders. During such a call,
 * libomptarget calls no forwarder either (LLVM 14 to 23). So the forwarders neither log the call
 * nor begin a new generation of mappings (present/present.h).
 *
 * NAME is the name of a data call in a trace; if NAME is NULL, the call is not traced. In a trace,
 * a launch has the name of its kernel, the grid of PACKET, and REASON. REASON is why the CUDA
 * driver does not launch.
 *
 * rex_call_data() enters the gate (omp/gate.h). Call rex_call_kernel() only inside the gate. Both
 * functions return 0 if they have called libomptarget, otherwise an error. If the device is lost, a
 * launch and a data call with a name fail with REX_ECUDA. rex_call_kernel() writes libomptarget's
 * result of the launch to *RETURNED.
 */
int rex_call_data(enum rex_data_call call, const char *name, int64_t device,
                  const struct rex_map *map);
int rex_call_kernel(ident_t *loc, int64_t device, const void *key,
                    struct __tgt_kernel_arguments *packet, struct rex_reason reason, int *returned);

#endif
