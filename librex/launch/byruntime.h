/*
 * byruntime.h - a launch by libomptarget.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BYRUNTIME_H
#define REX_INTERNAL_BYRUNTIME_H

#include "launch/request.h"

/*
 * Call this only if REQUEST has fallback reasons. Checks REQUEST, and has libomptarget launch the
 * kernel. If the program passed no packet, check the rows before the call. Returns 0 or an error.
 * If the result is 0, *RETURNED is the result of libomptarget.
 */
int rex_launch_by_runtime(const struct rex_request *request, int *returned);

#endif
