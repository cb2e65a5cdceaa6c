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
 * libomptarget is bound: librex's own calls go to the functions of SLOTS from now on. The slots
 * that launch, map, register or work on a device are replaced by functions that count the call in
 * the gate, observe it and pass it on. An OMPT tool is told the program's code as their caller: if
 * there is a tool, slots are replaced only if a trace is on or the log is at debug. ALL: every call
 * of the process comes through the forwarders.
 */
void rex_calls_bind(struct rex_entry_points *slots, bool all);

/*
 * librex's own calls, once libomptarget is bound. They do not pass the forwarders, and do not come
 * back through them (LLVM 14 to 23). So the forwarders neither log them nor count an end of a
 * mapping. A trace has a data call as NAME (NULL: not traced). It has a launch by the name of its
 * kernel, with the grid of PACKET and the REASON for which libomptarget launches.
 *
 * Both are in flight (gate.h): the caller of rex_call_kernel() is so already. They return 0 or why
 * the call was not made; *RETURNED is libomptarget's result of a launch. A launch, and a data call
 * with a name, fails with REX_ECUDA if the device is lost.
 */
int rex_call_data(enum rex_data_call call, const char *name, int64_t device,
                  const struct rex_map *map);
int rex_call_kernel(ident_t *loc, int64_t device, const void *key,
                    struct __tgt_kernel_arguments *packet, struct rex_reason reason, int *returned);

#endif
