/*
 * byruntime.h - a launch by libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BYRUNTIME_H
#define REX_INTERNAL_BYRUNTIME_H

#include "launch/request.h"

/*
 * Check REQUEST and let libomptarget launch it, for its fallback reasons. The rows of a map have
 * been checked. Returns 0 and libomptarget's result in *RETURNED, or an error.
 */
int rex_launch_by_runtime(const struct rex_request *request, int *returned);

#endif
