/*
 * bydriver.h - a launch by the CUDA driver that is not in a queue.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BYDRIVER_H
#define REX_INTERNAL_BYDRIVER_H

#include "launch/request.h"

/*
 * Stores the fallback reasons of the launch in REQUEST. Without a reason the driver launches. The
 * call then waits for the kernel, unless the launch is deferred. With a reason nothing is launched.
 * The caller is inside the gate. Returns 0 or an error.
 */
int rex_launch_by_driver(struct rex_request *request);

/*
 * Launches a kernel that libomptarget cannot launch, if all fallback reasons come from the rows:
 * libomptarget maps the rows, and the driver launches. `reasons` of REQUEST is then 0. Otherwise
 * the reasons stay, and libomptarget has to launch. The caller has checked the rows. Returns 0 or
 * an error.
 */
int rex_launch_with_mapping(struct rex_request *request);

/* Logs the BACKEND of the first launch of a kernel. WHY is the reason, or "". */
void rex_log_backend(const struct rex_target *target, const char *backend, const char *why);

#endif
