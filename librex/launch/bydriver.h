/*
 * bydriver.h - launches by the CUDA driver, except launches in queues.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_BYDRIVER_H
#define REX_INTERNAL_BYDRIVER_H

#include "launch/request.h"

/*
 * Stores the fallback reasons of the launch in REQUEST. If there is no reason, the driver launches,
 * and the function waits for the kernel, unless the launch is deferred. If there is a reason,
 * nothing is launched. Call this inside the gate (omp/gate.h). Returns 0 or an error.
 */
int rex_launch_by_driver(struct rex_request *request);

/*
 * LLVM 18 cannot launch a plain kernel: a kernel without a parameter for the runtime. If all
 * fallback reasons of REQUEST come from its rows, this function launches such a kernel in three
 * steps: libomptarget maps the rows, the driver launches, and libomptarget unmaps the rows. After
 * such a launch, `reasons` of REQUEST is 0. If `reasons` is not 0 after the call, nothing was
 * launched. The caller then calls rex_launch_by_runtime(), which launches, or reports why it
 * cannot. Check the rows before you call this function. Returns 0 or an error.
 */
int rex_launch_with_mapping(struct rex_request *request);

/* At the first launch of a kernel, logs the BACKEND that launches it. WHY is the reason, or "". */
void rex_log_backend(const struct rex_target *target, const char *backend, const char *why);

#endif
