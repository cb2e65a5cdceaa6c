/*
 * attributes.h - launch attributes: cooperative grids and thread block clusters.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef REX_INTERNAL_ATTRIBUTES_H
#define REX_INTERNAL_ATTRIBUTES_H

#include "launch/pack.h"
#include "launch/request.h"

/*
 * Compare GRID, which has attributes, with the driver, the GPU of KERNEL and what fits there. The
 * GPU's context is current. Returns 0 or an error.
 */
int rex_attributes_check(const struct rex_loaded_kernel *kernel, const struct rex_grid *grid);

/*
 * Store in *BLOCKS how many blocks of KERNEL, with the threads, memory and clusters of GRID, its
 * GPU keeps resident at once. The GPU's context is current. Returns 0 or an error.
 */
int rex_resident_count(const struct rex_loaded_kernel *kernel, const struct rex_grid *grid,
                       uint64_t *blocks);

/* REX_EUNSUPPORTED, with REQUEST's reasons, because libomptarget knows no attributes. */
int rex_attributes_refuse(const struct rex_request *request);

/* rex_packed_put() of a launch with attributes. */
int rex_attributes_put(const struct rex_packed *packed, const struct rex_arguments *arguments,
                       void *stream);

#endif
