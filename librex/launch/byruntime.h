/*
 * byruntime.h - a launch by libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BYRUNTIME_H
#define REX_INTERNAL_BYRUNTIME_H

#include "launch/request.h"

/*
 * Checks REQUEST, which has fallback reasons, and launches it by libomptarget. The rows have been
 * checked, except the rows of a packet. Returns 0 with libomptarget's result in *RETURNED, or an
 * error.
 */
int rex_launch_by_runtime(const struct rex_request *request, int *returned);

#endif
