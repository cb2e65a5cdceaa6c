/*
 * defer.h - a launch that returns before its kernel is done (REX_LAUNCH_BLOCKING=0).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEFER_H
#define REX_INTERNAL_DEFER_H

#include "launch/plan.h"

/*
 * Returns true if the launch of PLAN, whose rows are placed, may be deferred. Each row must be a
 * value, or memory that is mapped whole. The host must not see the result without a call of librex.
 */
bool rex_plan_may_defer(const struct rex_plan *plan);

/*
 * Packs the arguments and puts the kernel in the stream of the device's deferred launches. Stores
 * the number of the launch in the ranges of PLAN. If there is no such stream, launches nothing and
 * leaves the number 0. Returns 0 or an error.
 */
int rex_plan_defer(struct rex_plan *plan);

/*
 * Logs once that a launch is not deferred, although the setting allows it. Logs only if REQUEST's
 * reasons hold for all launches of the process or of the device.
 */
void rex_log_not_deferred(const struct rex_request *request);

#endif
