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
 * been done, and libomptarget has to launch. IS_MAPPED: libomptarget has mapped all rows for the
 * launch, and only reasons that the rows have on the device count.
 */
int rex_launch_by_driver(struct rex_request *request, bool is_mapped);

/* The fallback reasons of row I of MAP alone. */
unsigned rex_reasons_of_row(const struct rex_map *map, int32_t i);

/* Log the first launch of a kernel with its backend, and WHY, unless that is empty. */
void rex_log_backend(const struct rex_target *target, const char *backend, const char *why);

#endif
