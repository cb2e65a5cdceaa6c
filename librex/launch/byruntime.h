/*
 * byruntime.h - a launch by libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BYRUNTIME_H
#define REX_INTERNAL_BYRUNTIME_H

#include "launch/request.h"

/*
 * Check REQUEST and let libomptarget launch it for its fallback reasons. The rows of a map have
 * been checked, and looked up on the device. If libomptarget cannot launch the kernel, and the
 * reasons are of its rows, libomptarget maps the rows and the driver launches: no reason is left
 * then. Returns 0 and libomptarget's result in *RETURNED, or an error.
 */
int rex_launch_by_runtime(struct rex_request *request, int *returned);

#endif
