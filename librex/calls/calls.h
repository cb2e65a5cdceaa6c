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
 * Makes librex's own calls use the functions of SLOTS, which are those of the bound libomptarget.
 * Replaces the slots that launch, map, register or work on a device by functions of librex. These
 * functions count the call in the gate, observe it and call libomptarget. libomptarget reports to
 * an OMPT tool the address that called it. The tool expects an address in the program, but with
 * replaced slots it gets one in librex. So if there is a tool, slots are replaced only if a trace
 * is on or the log is at debug. ALL: every call of the process comes through the forwarders.
 */
void rex_calls_bind(struct rex_entry_points *slots, bool all);

/*
 * Calls libomptarget for librex, after it is bound. The two calls do not pass the forwarders, and
 * libomptarget does not call the forwarders for them (LLVM 14 to 23). So the forwarders neither log
 * them nor count an end of a mapping. A trace has a data call as NAME; NULL: the call is not
 * traced. It has a launch by the name of its kernel, with the grid of PACKET and the fallback
 * REASON.
 *
 * The calls are inside the gate (omp/gate.h); the caller of rex_call_kernel() is there already.
 * They return 0, or an error if libomptarget was not called. *RETURNED is libomptarget's result of
 * a launch. A launch, or a data call with a name, returns REX_ECUDA if the device is lost.
 */
int rex_call_data(enum rex_data_call call, const char *name, int64_t device,
                  const struct rex_map *map);
int rex_call_kernel(ident_t *loc, int64_t device, const void *key,
                    struct __tgt_kernel_arguments *packet, struct rex_reason reason, int *returned);

#endif
