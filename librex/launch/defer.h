/*
 * defer.h - a deferred launch: the call returns before the kernel is done (REX_LAUNCH_BLOCKING=0).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEFER_H
#define REX_INTERNAL_DEFER_H

#include "launch/plan.h"

/*
 * Returns true if the launch of PLAN may be deferred. Call this after rex_plan_place(). A deferred
 * launch meets two conditions:
 * - Each row is a value, or memory that lies in one mapping.
 * - The host cannot see the result before it calls librex. For example, no value is an address of
 *   pinned memory, because the host could read this memory at any time.
 */
bool rex_plan_may_defer(const struct rex_plan *plan);

/*
 * Packs the arguments, and puts the kernel in the stream of deferred launches on the device. Stores
 * the number of the launch in `ranges.launch` of PLAN. Returns 0 or an error.
 *
 * If there is no such stream, launches nothing, and leaves `ranges.launch` at 0. In that case
 * returns REX_ECUDA if the device is lost, otherwise 0. If the result is 0 and `ranges.launch` is
 * 0, the caller makes a launch that is not deferred.
 */
int rex_plan_defer(struct rex_plan *plan);

/*
 * Logs once why REQUEST is not deferred although REX_LAUNCH_BLOCKING=off allows deferred launches.
 * Logs a reason only if it applies to all launches of the process or of the device.
 */
void rex_log_not_deferred(const struct rex_request *request);

#endif
