/*
 * defer.h - a launch that returns before its kernel is done (REX_LAUNCH_BLOCKING=0).
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_DEFER_H
#define REX_INTERNAL_DEFER_H

#include "launch/plan.h"

/*
 * Whether the launch of PLAN, whose rows are placed, may be deferred: each row is a value or memory
 * that is mapped whole, and nobody on the host can see the result without a call of librex.
 */
bool rex_plan_may_defer(const struct rex_plan *plan);

/*
 * Packs the arguments and puts the kernel in the stream of the device's deferred launches. The
 * ranges of PLAN get the number of the launch, or 0 if there is no such stream: then nothing is
 * done. Returns 0 or an error.
 */
int rex_plan_defer(struct rex_plan *plan);

/*
 * Logs once that a launch is waited for, though the setting would defer it, if REQUEST's reasons
 * hold for all launches of the process or the device.
 */
void rex_log_not_deferred(const struct rex_request *request);

#endif
