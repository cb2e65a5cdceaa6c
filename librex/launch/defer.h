/*
 * defer.h - a deferred launch: the call returns before the kernel is done (REX_LAUNCH_BLOCKING=0).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEFER_H
#define REX_INTERNAL_DEFER_H

#include "launch/plan.h"

/*
 * Returns true if the launch of PLAN may be deferred. The rows of PLAN have been placed
 * (launch/plan.h). A deferred launch meets two conditions:
 * - Each row is a value, or memory that lies in one mapping.
 * - The host cannot see the result without a call of librex.
 */
bool rex_plan_may_defer(const struct rex_plan *plan);

/*
 * Packs the arguments, and puts the kernel in the stream of deferred launches on the device. Stores
 * the number of the launch in `ranges.launch` of PLAN. If there is no such stream, launches
 * nothing, and `ranges.launch` stays 0. Returns 0 or an error.
 */
int rex_plan_defer(struct rex_plan *plan);

/*
 * Logs once why REQUEST is not deferred although the setting allows deferred launches. Logs nothing
 * if no reason applies to all launches of the process or of the device.
 */
void rex_log_not_deferred(const struct rex_request *request);

#endif
