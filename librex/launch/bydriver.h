/*
 * bydriver.h - a launch by the CUDA driver that is not in a queue.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BYDRIVER_H
#define REX_INTERNAL_BYDRIVER_H

#include "launch/request.h"

/*
 * Collects the fallback reasons of REQUEST. Without reasons the driver launches, and the call waits
 * unless the launch is deferred. The caller is inside the gate. Returns 0 or an error. If REQUEST
 * has reasons after the call, nothing was launched.
 */
int rex_launch_by_driver(struct rex_request *request);

/*
 * Helps a kernel that libomptarget cannot launch, if all fallback reasons come from the rows.
 * libomptarget maps the rows, and the driver launches; REQUEST then has no reasons. Otherwise the
 * reasons stay, and libomptarget has to launch. The caller has checked the rows. Returns 0 or an
 * error.
 */
int rex_launch_with_mapping(struct rex_request *request);

/* Logs the BACKEND of a kernel's first launch. WHY is the reason, or empty. */
void rex_log_backend(const struct rex_target *target, const char *backend, const char *why);

#endif
