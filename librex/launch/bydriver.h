/*
 * bydriver.h - a waiting launch by the CUDA driver.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BYDRIVER_H
#define REX_INTERNAL_BYDRIVER_H

#include "launch/request.h"

/*
 * Collect the fallback reasons of REQUEST. If there are none, let the driver launch, and wait. The
 * caller is inside the gate. Returns 0 or an error. If there are reasons afterwards, nothing has
 * been done.
 */
int rex_launch_by_driver(struct rex_request *request);

/*
 * The next step, for a request with reasons, whose rows have been checked. If libomptarget cannot
 * launch the kernel, and the reasons are of its rows, let libomptarget map the rows and the driver
 * launch: no reason is left then. Otherwise the reasons stay, and libomptarget has to launch.
 * Returns 0 or an error.
 */
int rex_launch_with_mapping(struct rex_request *request);

/* Log the first launch of a kernel with its backend, and WHY, unless that is empty. */
void rex_log_backend(const struct rex_target *target, const char *backend, const char *why);

#endif
